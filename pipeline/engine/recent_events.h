// Tells records that a writer wrote twice: equal in every field to one that went by lately. What
// is kept of each is a 64-bit hash. A lane that has no such events keeps nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// The last 512 samples or so of a lane: 64 sets, by hash, of the last 8 each.
class RecentSamples {
 public:
  // False when it went by before: the same series, time and value.
  bool add(const Sample& sample);
  void state(StateIo& io);

 private:
  static constexpr std::size_t kSets = 64;
  static constexpr std::size_t kWays = 8;  // a set is a cache line

  std::vector<std::uint64_t> prints_;  // 0: none; newest first within a set
};

// The last 64 steps and waits for data of a lane. Other spans may well be equal in all that is
// kept of them (two kernels on two streams), so they are not asked about.
class RecentSpans {
 public:
  // False when it went by before.
  bool add(const Span& span);
  void state(StateIo& io);

 private:
  static constexpr std::size_t kKept = 64;

  std::vector<std::uint64_t> prints_;  // a ring
  std::uint64_t next_ = 0;
};

}  // namespace trainwatch
