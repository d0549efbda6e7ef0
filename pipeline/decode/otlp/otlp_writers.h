// SPDX-License-Identifier: Apache-2.0
// The processes that send what is in one OTLP file, as their resources say: one file has those of
// any number of ranks, and of several runs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "pipeline/decode/decoder.h"
#include "pipeline/decode/otlp/training_names.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

struct OtlpResource {
  std::string_view run{};  // what the launcher calls it; valid as long as the text
  std::string_view node{};
  std::int32_t rank = kNoRank;
  std::int64_t process = -1;  // of the operating system
  std::uint32_t world_size = 0;
  bool helper = false;  // works for the training under the rank of a trainer: its steps are others
};
// `attributes`: the list of them.
OtlpResource read_otlp_resource(std::string_view attributes);

// A sum so far, as the last export had it.
struct OtlpSum {
  Time start = kNoTime;  // from when it counts
  Time at = kNoTime;     // of the export; kNoTime: there was none
  double count = 0;
  double sum = 0;
};

struct OtlpWriter {
  std::optional<SubjectId> subject{};  // nullopt: there is no room for it. Not saved
  std::int64_t process = -1;
  bool starting = false;  // a process has begun and has not made a step
  // A checkpoint that was read, until it is known which process has begun.
  Time restored_from = kNoTime;
  Time restored = kNoTime;
  std::array<OtlpSum, static_cast<std::size_t>(OtlpCounter::count_)> sums{};

  void state(StateIo& io);
};

class OtlpWriters {
 public:
  static constexpr std::size_t kMost = 16'384;

  // The context outlives the object.
  explicit OtlpWriters(const FileContext& context) : context_(context) {}

  // Null: there is no room for another one. Stays valid.
  OtlpWriter* find(const OtlpResource& resource);
  void state(StateIo& io);

 private:
  using Key = std::tuple<std::string, std::string, std::int32_t>;  // run, node, rank

  std::optional<SubjectId> subject_of(const Key& key) const;

  const FileContext& context_;
  std::map<Key, OtlpWriter> writers_;
};

}  // namespace trainwatch
