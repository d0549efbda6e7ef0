// SPDX-License-Identifier: Apache-2.0
// Detects records that a writer wrote twice: equal in every field to a recent one. Each is kept as
// a 64-bit hash. A lane without such events uses no memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

// About the last 512 samples of a lane: 64 sets by hash, with the last 8 of each.
class RecentSamples {
 public:
  // False for a duplicate: the same series, time and value as a recent one.
  bool add(const Sample& sample);

  // Puts rows whose keys are `prefix` and a number: all samples in the first, and those since then
  // in the others, one for each call. The rows begin anew with `all`, and after kMostSince samples,
  // so that a stored sample costs about 5 hashes, however small the commits are.
  void save(StateRows& rows, std::string_view prefix, bool all);
  // Takes the rows in their order, with an object that is new before the first. False: damaged.
  bool load(std::uint64_t number, StateIo io);
  // How many rows are stored.
  std::uint32_t rows() const { return rows_; }

 private:
  static constexpr std::size_t kSets = 64;
  static constexpr std::size_t kWays = 8;  // one set fills a cache line
  static constexpr std::size_t kMostSince = 128;

  using Set = std::uint64_t*;  // its first print

  Set set_of(std::uint64_t print) { return prints_.data() + (print >> 58U) * kWays; }
  static void insert(Set set, std::uint64_t print) {
    std::array<std::uint64_t, kWays - 1> older{};  // of a fixed size: copied without a call
    std::copy_n(set, older.size(), older.begin());
    *set = print;
    std::copy(older.begin(), older.end(), set + 1);
  }
  void note_unsaved(std::uint64_t print);

  std::vector<std::uint64_t> prints_;   // 0: empty; newest first within a set
  std::vector<std::uint64_t> unsaved_;  // those that the next row has; empty if it has all
  std::uint32_t saved_since_ = 0;       // in the rows behind the first
  std::uint32_t rows_ = 0;
  bool anew_ = true;  // the next row has all
};

// The last 64 steps and data waits of a lane. Other spans may be legitimately equal in every field
// that is kept (two kernels on two streams), so they are not checked.
class RecentSpans {
 public:
  // False for a duplicate.
  bool add(const Span& span);
  void state(StateIo& io);

 private:
  static constexpr std::size_t kKept = 64;

  bool holds(std::uint64_t print) const;
  void count_prints();

  std::vector<std::uint64_t> prints_;  // ring buffer
  std::uint64_t next_ = 0;
  // How many of them have each value of their high byte. Most spans are new, and most of these are
  // alone with theirs: that saves the search. Not saved.
  std::vector<std::uint8_t> by_high_byte_;
};

}  // namespace trainwatch
