// SPDX-License-Identifier: Apache-2.0
// CPU time of reading what a job prints, by the whole decoder:
//
//     console_bench
//
// prints the bandwidth of text of which no line is a record, and how many lines with records of
// Megatron-LM and of torchtitan are read in a second, also where hardly two lines are alike. 64 MiB
// each, in chunks; medians of seven runs.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <string_view>

#include "pipeline/decode/file_decoder.h"
#include "pipeline/decode/formats/format_catalog.h"

namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20U;
constexpr std::size_t kChunk = std::size_t{256} << 10U;
constexpr std::size_t kRuns = 7;

constexpr std::string_view kNobody =
    "2026-11-25 10:00:00 INFO worker 3 fetched shard @ of the index from its cache in 12 ms\n";
// Of an `@` the number of the line is written, of a `!` its time, four lines a second, of a `#` any
// digit, of a `?` a digit or nothing.
constexpr std::string_view kMegatron =
    " [2026-11-25 !] iteration @/ 5000000 | consumed samples: @ | elapsed time per "
    "iteration (ms): ##?.# | learning rate: #.#E-07 | global batch size:   128 | lm loss: "
    "#.######E+00 | loss scale: 1.0 | grad norm: ?#.### | number of skipped iterations:   # | "
    "number of nan iterations:   # |\n";
constexpr std::string_view kTorchtitan =
    "[titan] 2026-11-25 !,### - root - INFO - step: @  loss:  #.####  grad_norm:  ?#.####  "
    "memory: ##.##GiB(##.##%)  tps: ?#,###  tflops: ?##.##  mfu: ##.##%\n";
// Hardly two lines have their numbers at the same places.
constexpr std::string_view kRagged =
    "[titan] 2026-11-25 !,### - ???????????? - INFO - step: @  loss:  #.????????  "
    "grad_norm:  ?#.????????  memory: ##.##GiB(##.??????%)  tps: ??#,###  tflops: ?##.????????  "
    "mfu: ##.????????%\n";

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class NoRejects final : public trainwatch::Diagnostics {
 public:
  void reject(trainwatch::FileId, trainwatch::RejectReason, std::string_view) override {}
};

struct Reading {
  double seconds = 0;
  std::uint64_t records = 0;
};

Reading read(std::string_view text) {
  trainwatch::Interner interner;
  NoRejects rejects;
  trainwatch::EventBatch events;
  trainwatch::FileDecoder decoder{{.path = "/w/slurm-1.out",
                                   .job = "",
                                   .interner = interner,
                                   .diagnostics = rejects,
                                   .list_directory = {}},
                                  trainwatch::format_catalog()};
  const double start = cpu_seconds();
  for (std::size_t at = 0; at < text.size(); at += kChunk) {
    events.clear();
    decoder.feed(text.substr(at, kChunk), events);
  }
  return {cpu_seconds() - start, decoder.records()};
}

std::string clock_of(std::uint64_t line) {
  const std::uint64_t seconds = line / 4;
  char text[16];
  std::snprintf(text, sizeof text, "%02u:%02u:%02u", static_cast<unsigned>(seconds / 3600 % 24),
                static_cast<unsigned>(seconds / 60 % 60), static_cast<unsigned>(seconds % 60));
  return text;
}

std::string written(char c, std::uint64_t line, std::mt19937& random) {
  const auto digit = [&random] { return std::to_string(random() % 10); };
  if (c == '@') return std::to_string(line);
  if (c == '!') return clock_of(line);
  if (c == '#') return digit();
  if (c == '?') return random() % 2 == 0 ? digit() : "";
  return std::string(1, c);
}

void measure(const char* name, std::string_view line) {
  std::string text;
  std::uint64_t lines = 0;
  std::mt19937 random(1);
  for (; text.size() < kBytes; ++lines) {
    for (const char c : line) text += written(c, lines, random);
  }
  std::array<double, kRuns> seconds{};
  Reading last;
  for (double& each : seconds) {
    last = read(text);
    each = last.seconds;
  }
  std::ranges::sort(seconds);
  const double median = seconds[kRuns / 2];
  std::printf("%s: %.2f GB/s, %.0f lines/s, %llu records of %llu lines\n", name,
              static_cast<double>(text.size()) / 1e9 / median, static_cast<double>(lines) / median,
              static_cast<unsigned long long>(last.records),
              static_cast<unsigned long long>(lines));
}

}  // namespace

int main() {
  measure("text of nobody", kNobody);
  measure("Megatron-LM", kMegatron);
  measure("torchtitan", kTorchtitan);
  measure("torchtitan, ragged", kRagged);
}
