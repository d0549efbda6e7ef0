// Detects records that a writer wrote twice: equal in every field to a recent one. Each is kept as
// a 64-bit hash. A lane without such events uses no memory.
#pragma once

#include <cstdint>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// About the last 512 samples of a lane: 64 sets by hash, with the last 8 of each.
class RecentSamples {
 public:
  // False for a duplicate: the same series, time and value as a recent one.
  bool add(const Sample& sample);
  void state(StateIo& io);

 private:
  static constexpr std::size_t kSets = 64;
  static constexpr std::size_t kWays = 8;  // one set fills a cache line

  std::vector<std::uint64_t> prints_;  // 0: empty; newest first within a set
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
