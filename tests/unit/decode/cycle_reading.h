// SPDX-License-Identifier: Apache-2.0
// Profiler's documents made by hand, and their cycles.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "decode_harness.h"
#include "support/cycle_log.h"

namespace trainwatch::testing {

inline constexpr std::int64_t kBase = 1'782'967'788'000'000'000;

struct Reading {
  test::CycleLog log;
  Interner interner;
  RecordingDiagnostics diagnostics;
  FileDecoder decoder;
  EventBatch events;

  explicit Reading(const std::string& path = "/w/host_1.1795235697709.pt.trace.json",
                   bool host_events = false)
      : log(host_events),
        decoder(
            FileContext{
                FileId{7}, LaneId{3}, path, "job", kNoRank, interner, diagnostics, {}, &log},
            format_catalog()) {}

  void feed(std::string_view bytes, std::size_t piece = 97) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      decoder.feed(bytes.substr(0, piece), events);
      if (decoder.complete()) decoder.finish(events);  // as Ingest does
    }
  }
  const CycleTrace& cycle(const std::string& content) {
    feed(content);
    decoder.finish(events);
    EXPECT_EQ(log.cycles.size(), 1U);
    return log.cycles.at(0);
  }
};

inline std::string document(const std::string& events) {
  return "{\"schemaVersion\": 1, \"traceEvents\": [\n" + events +
         "\n],\n\"distributedInfo\": {\"rank\": 3}, \"baseTimeNanoseconds\": " +
         std::to_string(kBase) + "}";
}

inline std::string event(const std::string& category, const std::string& name,
                         const std::string& ts, const std::string& dur,
                         const std::string& args = {}) {
  return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name +
         R"(", "pid": 1, "tid": 7, "ts": )" + ts + R"(, "dur": )" + dur + R"(, "args": {)" + args +
         "}}";
}
inline std::string work(const std::string& ts, int correlation, int stream = 7) {
  return event("kernel", "gemm", ts, "10",
               R"("device": 2, "stream": )" + std::to_string(stream) + R"(, "correlation": )" +
                   std::to_string(correlation) + R"(, "grid": [1, 2, 3])");
}
inline std::string call(const std::string& name, const std::string& ts, int correlation) {
  return event("cuda_runtime", name, ts, "2.5",
               R"("cbid": 1, "correlation": )" + std::to_string(correlation));
}

template <class... More>
std::string list(const std::string& first, const More&... more) {
  std::string text = first;
  ((text.append(",\n").append(more)), ...);
  return text;
}

}  // namespace trainwatch::testing
