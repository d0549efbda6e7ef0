// SPDX-License-Identifier: Apache-2.0
// CPU time of reading tensors compared with that of summing up the same float32 in memory, in one
// run, and the memory that a large one takes:
//
//     tensor_bench [MEGABYTES [GIGABYTES]]
//
// prints the bandwidth of the sum, that of the decoder of trials on one tensor of MEGABYTES (64)
// with either checksum, their ratio, and by how much the resident memory grew over a tensor of
// GIGABYTES (1) that comes in chunks. Both read from memory, which no cache holds; medians of
// seven alternating runs.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/event_file/crc32c.h"
#include "pipeline/decode/file_decoder.h"
#include "pipeline/decode/formats/format_catalog.h"
#include "trainwatch/tensor.h"

namespace {

constexpr std::size_t kChunk = std::size_t{256} << 10U;
constexpr std::size_t kRuns = 7;
constexpr const char* kPath = "/w/events/000000000001/000000000001_worker_0.tfevents";

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

class KeepMean final : public trainwatch::TensorSink {
 public:
  void tensor(const trainwatch::Tensor& tensor) override { mean = tensor.statistics.mean; }
  bool wants_tensors() const override { return true; }
  double mean = -1;
};

struct Reading {
  trainwatch::Interner interner;
  CountRejects rejects;
  KeepMean sink;
  trainwatch::EventBatch events;
  trainwatch::FileDecoder decoder{{.path = kPath,
                                   .job = "",
                                   .interner = interner,
                                   .diagnostics = rejects,
                                   .list_directory = {},
                                   .tensors = &sink},
                                  trainwatch::format_catalog()};

  void feed(std::string_view bytes) { decoder.feed(bytes, events); }
};

std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7U) bytes += static_cast<char>(number | 0x80U);
  return bytes += static_cast<char>(number);
}
std::string message(int field, std::string_view inside, std::uint64_t more) {
  std::string bytes(1, static_cast<char>(field << 3 | 2));
  return bytes + varint(inside.size() + more) + std::string(inside);
}

// What stands in a record before the contents of a float32 tensor, its header included.
std::string before_content(std::uint64_t content) {
  std::string inside(1, '\x22');  // tensor_content
  inside += varint(content);
  const std::string dimension = message(2, "\x08" + varint(content / 4), 0);
  inside = std::string("\x08\x01") + message(2, dimension, 0) + inside;  // type, shape
  inside = message(1, "w", 0) + message(8, inside, content);             // the value
  inside = message(1, inside, content);                                  // the summary
  const double at = 1.7e9;
  std::string time(9, '\x09');
  std::memcpy(time.data() + 1, &at, sizeof at);
  const std::string payload = time + message(5, inside, content);
  const std::uint64_t length = payload.size() + content;
  std::string header(12, '\0');
  std::memcpy(header.data(), &length, sizeof length);
  const std::uint32_t checksum = trainwatch::masked_crc32c(std::string_view(header).substr(0, 8));
  std::memcpy(header.data() + 8, &checksum, sizeof checksum);
  return header + payload;
}

std::string footer(std::uint32_t checksum) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &checksum, sizeof checksum);
  return bytes;
}
constexpr std::uint32_t kSageMakerChecksum = 0x062DC0B3U;

// As fast as the memory: four vectors side by side.
double sum_of(std::string_view floats) {
  using Floats = float __attribute__((vector_size(32)));
  std::array<Floats, 4> sums{};
  for (std::size_t at = 0; at + sizeof sums <= floats.size(); at += sizeof sums) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      Floats x;
      std::memcpy(&x, floats.data() + at + i * sizeof x, sizeof x);
      sums[i] += x;
    }
  }
  double all = 0;
  for (const Floats& sum : sums) {
    for (int lane = 0; lane < 8; ++lane) all += static_cast<double>(sum[lane]);
  }
  return all;
}

double decode_seconds(std::string_view record) {
  Reading reading;
  const double start = cpu_seconds();
  for (std::size_t at = 0; at < record.size(); at += kChunk)
    reading.feed(record.substr(at, kChunk));
  const double seconds = cpu_seconds() - start;
  if (reading.rejects.count > 0 || reading.sink.mean < 0) std::fprintf(stderr, "not decoded\n");
  return seconds;
}

double median(std::array<double, kRuns> values) {
  std::ranges::sort(values);
  return values[kRuns / 2];
}

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Call first: the peak never goes back.
void measure_memory(std::uint64_t bytes) {
  Reading reading;
  std::string chunk(kChunk, '\0');
  for (std::size_t at = 0; at < chunk.size(); at += 4) {
    const float x = static_cast<float>(at % 1009) * 0.5F;
    std::memcpy(chunk.data() + at, &x, sizeof x);
  }
  const long before = peak_kib();
  reading.feed(before_content(bytes));
  for (std::uint64_t at = 0; at < bytes; at += chunk.size()) reading.feed(chunk);
  reading.feed(footer(kSageMakerChecksum));
  std::printf("tensor of %llu MiB: mean %.3f, peak RSS grew by %.1f MiB\n",
              static_cast<unsigned long long>(bytes >> 20U), reading.sink.mean,
              static_cast<double>(peak_kib() - before) / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t bytes = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 64) << 20U;
  measure_memory((argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1) << 30U);
  std::string content(bytes, '\0');
  for (std::size_t at = 0; at < content.size(); at += 4) {
    const float x = static_cast<float>(at % 65521) * 0.001F;
    std::memcpy(content.data() + at, &x, sizeof x);
  }
  const std::string start = before_content(bytes);
  std::string record = start + content + footer(kSageMakerChecksum);
  std::array<double, kRuns> sums{};
  std::array<double, kRuns> constant{};
  std::array<double, kRuns> own{};
  double kept = 0;
  const std::string true_footer =
      footer(trainwatch::masked_crc32c(std::string_view(record).substr(12, record.size() - 16)));
  for (std::size_t run = 0; run < kRuns; ++run) {
    const double began = cpu_seconds();
    kept += sum_of(content);
    sums[run] = cpu_seconds() - began;
    record.replace(record.size() - 4, 4, footer(kSageMakerChecksum));
    constant[run] = decode_seconds(record);
    record.replace(record.size() - 4, 4, true_footer);
    own[run] = decode_seconds(record);
  }
  const double size = static_cast<double>(bytes) / 1e9;
  std::printf(
      "float32, %llu MiB: sum %.2f GB/s (%.3g), trial_events %.2f GB/s, ratio %.2f; with true "
      "checksums %.2f GB/s, ratio %.2f\n",
      static_cast<unsigned long long>(bytes >> 20U), size / median(sums), kept,
      size / median(constant), median(sums) / median(constant), size / median(own),
      median(sums) / median(own));
  return 0;
}
