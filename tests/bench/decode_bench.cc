// SPDX-License-Identifier: Apache-2.0
// CPU time of decoding compared with a plain simdjson on-demand pass that reads the same fields and
// does nothing else, in one run:
//
//     decode_bench FILE...
//
//     decode_bench --plain FILE...
//
// The first prints for each file: format, bytes, records, CPU seconds of trainwatch's FileDecoder,
// CPU seconds of the simdjson pass, and the ratio of the two speeds (1: as fast as simdjson alone);
// of profiler traces also the CPU seconds when cycles are taken. Both read from memory; medians of
// five alternating runs, after one run of each that is not counted.
//
// The second prints the CPU seconds of the simdjson pass over all files, and those of inflating the
// ones that end in .gz: medians of three.
#include <simdjson.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/file_decoder.h"
#include "pipeline/decode/formats/format_catalog.h"
#include "pipeline/decode/gzip_stream.h"

namespace {

using namespace simdjson;  // NOLINT: one page of code about nothing else

constexpr std::size_t kChunk = std::size_t{256} << 10U;
constexpr int kRuns = 5;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class CountRejects final : public trainwatch::Diagnostics {
 public:
  void reject(trainwatch::FileId, trainwatch::RejectReason, std::string_view) override { ++count; }
  std::uint64_t count = 0;
};

class CountCycles final : public trainwatch::CycleSink {
 public:
  void cycle(trainwatch::CycleTrace& cycle) override { rows += cycle.device.size(); }
  std::uint64_t rows = 0;
};

struct Pass {
  std::uint64_t records = 0;
  double checksum = 0;  // keeps the compiler from leaving the reading out
};

struct Decoded {
  std::uint64_t records = 0;
  std::uint64_t rejects = 0;
  std::string_view format;
};

Decoded run_trainwatch(std::string_view data, const std::string& path,
                       trainwatch::CycleSink* cycles = nullptr) {
  trainwatch::Interner interner;
  CountRejects rejects;
  trainwatch::FileDecoder decoder{
      {{}, {}, path, "", trainwatch::kNoRank, interner, rejects, {}, cycles},
      trainwatch::format_catalog()};
  trainwatch::EventBatch events;
  for (std::size_t at = 0; at < data.size(); at += kChunk) {
    events.clear();
    decoder.feed(data.substr(at, kChunk), events);
  }
  decoder.finish(events);
  return {decoder.records(), rejects.count, decoder.format()};
}

void read_sample(ondemand::object line, Pass& pass) {
  for (auto field : line) {
    const char* key = field.key().value().raw();
    switch (key[0]) {
      case 'T':
        if (key[1] == 'y') {
          pass.checksum += static_cast<double>(field.value().get_string().value().size());
        } else {
          pass.checksum += field.value().get_double().value();
        }
        break;
      case 'N':
      case 'D':
        pass.checksum += static_cast<double>(field.value().get_string().value().size());
        break;
      case 'V':
        pass.checksum += field.value().get_double().value();
        break;
      default:
        break;
    }
  }
  ++pass.records;
}

Pass simdjson_lines(ondemand::parser& parser, const padded_string& text) {
  Pass pass;
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p < end) {
    const std::size_t size = std::min<std::size_t>(kChunk, static_cast<std::size_t>(end - p));
    const auto* stop = static_cast<const char*>(memrchr(p, '\n', size));
    if (stop == nullptr) break;
    const auto length = static_cast<std::size_t>(stop + 1 - p);
    ondemand::document_stream lines = parser.iterate_many(p, length, kChunk).value();
    for (auto line : lines) read_sample(line.get_object().value(), pass);
    p = stop + 1;
  }
  return pass;
}

// The arguments that only timelines are asked for: step_num, worker_id, pid, name.
void read_arguments(ondemand::object arguments, Pass& pass) {
  for (auto field : arguments) {
    const char first = field.key().value().raw()[0];
    if (first != 's' && first != 'w' && first != 'p' && first != 'n') continue;
    pass.checksum += static_cast<double>(field.value().raw_json_token().value().size());
  }
}

// Every field that the decoder of this format may read, of every event.
template <bool kArguments>
void read_event(ondemand::object event, Pass& pass) {
  for (auto field : event) {
    const char* key = field.key().value().raw();
    const auto text = [&] {
      pass.checksum += static_cast<double>(field.value().get_string().value().size());
    };
    const auto number = [&] { pass.checksum += field.value().get_double().value(); };
    switch (key[0]) {
      case 'p':
        if (key[1] == 'h') text();
        break;
      case 'c':
        if (key[1] == 'a') text();
        break;
      case 'n':
        text();
        break;
      case 'a':
        if (kArguments) read_arguments(field.value().get_object().value(), pass);
        break;
      case 't':
        if (key[1] == 's') number();
        break;
      case 'd':
        if (key[1] == 'u') number();
        break;
      default:
        break;
    }
  }
  ++pass.records;
}

template <bool kArguments>
Pass simdjson_trace(ondemand::parser& parser, const padded_string& text) {
  Pass pass;
  ondemand::document document = parser.iterate(text).value();
  const bool array = document.type().value() == ondemand::json_type::array;
  ondemand::array events =
      array ? document.get_array().value() : document["traceEvents"].get_array().value();
  for (auto event : events) read_event<kArguments>(event.get_object().value(), pass);
  return pass;
}

std::string content_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::string content{std::istreambuf_iterator<char>{file}, {}};
  if (!file || content.empty()) {
    std::fprintf(stderr, "decode_bench: cannot read %s\n", path.c_str());
    std::exit(1);
  }
  return content;
}

using PlainPass = Pass (*)(ondemand::parser&, const padded_string&);

PlainPass plain_pass_of(std::string_view format) {
  if (format == "system_metrics") return &simdjson_lines;
  return format == "chrome_trace" ? &simdjson_trace<false> : &simdjson_trace<true>;
}

// `take` gets the contents, a piece at a time.
template <class Take>
void inflate(std::string_view bytes, Take&& take) {
  trainwatch::InflateStream stream;
  stream.push(bytes);
  for (std::string_view part = stream.pull(); !part.empty(); part = stream.pull()) take(part);
}

std::string inflated(std::string_view bytes) {
  std::string text;
  inflate(bytes, [&text](std::string_view part) { text += part; });
  return text;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int plain(std::span<char* const> paths) {
  constexpr std::size_t kPasses = 3;
  std::vector<double> passes(kPasses);
  std::vector<double> inflations(kPasses);
  ondemand::parser parser;
  for (const char* const path : paths) {
    const std::string content = content_of(path);
    const bool compressed = std::string_view(path).ends_with(".gz");
    const padded_string text{compressed ? inflated(content) : content};
    const std::string_view whole{text.data(), text.size()};
    const PlainPass pass = plain_pass_of(run_trainwatch(whole.substr(0, kChunk), path).format);
    pass(parser, text);
    for (std::size_t i = 0; i < kPasses; ++i) {
      double start = cpu_seconds();
      pass(parser, text);
      passes[i] += cpu_seconds() - start;
      start = cpu_seconds();
      if (compressed) inflate(content, [](std::string_view) {});
      inflations[i] += cpu_seconds() - start;
    }
  }
  std::printf("simdjson_cpu_seconds=%.4f inflate_cpu_seconds=%.4f\n", median(passes),
              median(inflations));
  return 0;
}

int measure(const std::string& path) {
  const std::string content = content_of(path);
  const padded_string text{content};
  ondemand::parser parser;
  const Decoded decoded = run_trainwatch(content, path);
  const PlainPass plain_pass = plain_pass_of(decoded.format);
  const Pass expected = plain_pass(parser, text);
  std::vector<double> ours(kRuns);
  std::vector<double> plain(kRuns);
  std::vector<double> with_cycles(kRuns);
  CountCycles cycles;
  for (std::size_t run = 0; run < kRuns; ++run) {
    double start = cpu_seconds();
    run_trainwatch(content, path);
    ours[run] = cpu_seconds() - start;
    start = cpu_seconds();
    plain_pass(parser, text);
    plain[run] = cpu_seconds() - start;
    start = cpu_seconds();
    if (decoded.format == "chrome_trace") run_trainwatch(content, path, &cycles);
    with_cycles[run] = cpu_seconds() - start;
  }
  const double decode_seconds = median(ours);
  const double plain_seconds = median(plain);
  std::printf(
      "%s format=%s bytes=%zu records=%llu rejects=%llu simdjson_records=%llu "
      "simdjson_cpu_seconds=%.4f trainwatch_cpu_seconds=%.4f ratio=%.2f cycles_cpu_seconds=%.4f "
      "device_rows=%llu\n",
      path.c_str(), std::string{decoded.format}.c_str(), content.size(),
      static_cast<unsigned long long>(decoded.records),
      static_cast<unsigned long long>(decoded.rejects),
      static_cast<unsigned long long>(expected.records), plain_seconds, decode_seconds,
      plain_seconds / decode_seconds, median(with_cycles),
      static_cast<unsigned long long>(cycles.rows / kRuns));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: decode_bench [--plain] FILE...\n");
    return 2;
  }
  int status = 0;
  try {
    const std::span<char* const> arguments{argv + 1, static_cast<std::size_t>(argc - 1)};
    if (std::string_view(arguments.front()) == "--plain") return plain(arguments.subspan(1));
    for (int i = 1; i < argc; ++i) status |= measure(argv[i]);
  } catch (const simdjson_error& error) {
    std::fprintf(stderr, "decode_bench: simdjson: %s\n", error.what());
    status = 1;
  }
  return status;
}
