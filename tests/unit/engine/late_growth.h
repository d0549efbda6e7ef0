// SPDX-License-Identifier: Apache-2.0
// Jobs of two files of one lane, in each format, and a reader that lists what it gets of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pipeline/engine/decoder_contexts.h"
#include "support/gzip.h"
#include "support/ingest_run.h"

namespace trainwatch::late_growth {

using test::gzip;

// Lists all spans, samples and activities of GPUs that it gets.
class Probe final : public Analysis {
 public:
  explicit Probe(const Interner& names) : names_(names) {}
  void on_span(const Span& span) override {
    const Subject& who = names_.subjects[span.subject];
    seen_.push_back(
        std::to_string(to_ns(span.start)) + " +" + std::to_string(span.duration.count()) + " " +
        std::string(names_.text(span.name)) + " in " + std::string(names_.text(span.phase)) +
        " of " + who.node + "/" + std::to_string(who.rank) + " step " + std::to_string(span.step));
  }
  void on_sample(const Sample& sample) override {
    seen_.push_back(std::to_string(to_ns(sample.at)) + " = " + std::to_string(sample.value));
  }
  void on_cycle(const CycleTrace& cycle) override {
    for (const DeviceActivity& row : cycle.device)
      seen_.push_back(std::string(cycle.names.text(row.name)) + " " + std::to_string(row.start_ns));
  }
  void state(StateIo& io) override { io(seen_); }
  // Sorted: files of a lane that grow at the same time are read in either order.
  Figures figures() const override {
    std::vector<std::string> sorted = seen_;
    std::ranges::sort(sorted);
    std::string text;
    for (const std::string& line : sorted) text += line + "; ";
    Figures out;
    out.add("seen", text);
    return out;
  }

 private:
  const Interner& names_;
  std::vector<std::string> seen_;
};
inline const AnalysisSpec kProbe = make_spec<Probe>(
    {.name = "probe",
     .summary = "A test",
     .samples = {Resource::cpu_utilization},
     .spans = {SpanKind::other, SpanKind::step, SpanKind::data_wait, SpanKind::forward}});

inline std::vector<std::string> list_directory(const std::string& directory) {
  const bool here = directory == "/r/framework/tensorflow/detailed_profiling/2026112104/000000000";
  return here ? std::vector<std::string>{"host_1795236015981368_1795236116000000.metadata"}
              : std::vector<std::string>{};
}

struct Reader : test::IngestRun {
  explicit Reader(test::ModelFileSystem& files, const StoredRows& rows = {},
                  DecoderContexts::Limits limits = {})
      : IngestRun(files, rows, {&kProbe}, {{{"/r", "r", "job"}}, list_directory, {}, {}, limits}) {
    EXPECT_TRUE(loaded);
  }

  // No bytes come for so long that every file is evaluated to its end.
  void fall_silent() {
    for (std::uint32_t round = 0; round <= LastSeen::kPatience; ++round)
      engine.last_seen().next_round(engine.interner());
    ingest.finish_silent_files();
  }
  std::string seen() {
    look(3);
    ingest.end_of_input();
    const auto result = engine.analyses().result("probe", "job");
    return std::to_string(ingest.sources().at("r").records) +
           " records: " + (result ? result->json() : "");
  }
  std::uint64_t rejects() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : ingest.sources().at("r").rejects) sum += count;
    return sum;
  }
};

// Two files of one lane.
struct Job {
  std::string first, first_content;
  std::string second, second_content;
};

inline std::string timeline(int base_s, int events) {
  std::string text =
      R"([{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": )" +
      std::to_string(1795236000 + base_s) + R"(000000}},
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Forward"}},
{"ph": "B", "name": "outer", "pid": 2, "ts": 10},
)";
  for (int i = 1; i <= events; ++i) {
    text += R"({"name": "e)" + std::to_string(i) + R"(", "pid": 1, "ph": "X", "ts": )" +
            std::to_string(i * 100) + R"(, "dur": 50, "args": {"step_num": )" + std::to_string(i) +
            "}},\n";
  }
  return text + "{\"ph\": \"E\", \"pid\": 2, \"ts\": 900}\n]";
}

inline const Job kTimelines = {
    "/r/framework/pevents/2026112104/1795236001000000_0-algo-1_pythontimeline.json", timeline(0, 4),
    "/r/framework/pevents/2026112104/1795236002000000_0-algo-1_pythontimeline.json",
    timeline(1, 3)};

inline Job compressed(Job job) {
  job.first += ".gz";
  job.first_content = gzip(job.first_content);
  return job;
}

inline std::string metrics(int first, int last) {
  std::string text;
  for (int i = first; i < last; ++i) {
    text += R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":)" +
            std::to_string(i) + R"(,"NodeId":"algo-1","Timestamp":)" +
            std::to_string(1795236000 + i) + "}\n";
  }
  return text;
}

inline const Job kMetrics = {
    "/r/system/incremental/2026112104/1795236000.algo-1.json", metrics(0, 4),
    "/r/system/incremental/2026112104/1795236060.algo-1.json", metrics(4, 6)};

inline std::string kineto(int step) {
  std::string text =
      R"({"schemaVersion": 1, "distributedInfo": {"rank": 5}, "baseTimeNanoseconds": 1782967788000000000,
"traceEvents": [
)";
  for (int i = 0; i < 3; ++i) {
    text += R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#)" +
            std::to_string(step + i) + R"(", "pid": 9, "tid": 9, "ts": )" +
            std::to_string((step + i) * 1000) + R"(, "dur": 900},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": )" +
            std::to_string((step + i) * 1000 + 5) + R"(, "dur": 20, "args": {"stream": 7}},
)";
  }
  return text + "{\"ph\": \"M\"}\n]}";
}

inline const Job kKineto = {"/r/host_1.1795235697709.pt.trace.json", kineto(1),
                            "/r/host_1.1795235797709.pt.trace.json", kineto(4)};

inline std::string tensorflow(int first) {
  std::string text =
      R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
{"ph":"M","pid":49,"name":"process_name","args":{"name":"/host:CPU"}},
)";
  for (int i = first; i < first + 3; ++i) {
    text += R"({"pid":49,"tid":1,"ts":)" + std::to_string(i * 100) + R"(,"name":"e)" +
            std::to_string(i) + R"(","ph":"X","dur":50},
)";
  }
  return text + "{}]}";
}

inline const std::string kTensorflow =
    "/r/framework/tensorflow/detailed_profiling/2026112104/000000000/plugins/profile/";
inline const Job kTensorflows = {kTensorflow + "2026_11_21_04_00_15/host.trace.json", tensorflow(1),
                                 kTensorflow + "2026_11_21_04_01_15/host.trace.json",
                                 tensorflow(4)};

}  // namespace trainwatch::late_growth
