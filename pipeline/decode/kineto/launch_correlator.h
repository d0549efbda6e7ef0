// SPDX-License-Identifier: Apache-2.0
// Joins device activity with the calls that launched it, by correlation, in any order: the activity
// before its call (nearly all writers), after it (ROCm), or far away (MTIA). A call may launch any
// number of rows.
//
// A call that has launched nothing yet, and whose name does not say that it will, waits for its
// activity; beyond kMostWaiting the oldest is given up. Everything else is joined at any distance.
#pragma once

#include <cstdint>
#include <deque>

#include "pipeline/decode/kineto/correlation_index.h"
#include "trainwatch/cycle_trace.h"

namespace trainwatch {

class LaunchCorrelator {
 public:
  static constexpr std::size_t kMostWaiting = std::size_t{1} << 17U;
  static constexpr std::size_t kMostLaunches = std::size_t{1} << 20U;
  static_assert(kMostLaunches <= kNoLaunch);

  // The newest row of `cycle.device`.
  void add_activity(CycleTrace& cycle, std::int64_t correlation);
  // `launches`: whether its name says so.
  void call(CycleTrace& cycle, const LaunchRow& call, std::int64_t correlation, bool launches);
  // The call of a correlation, kNoLaunch if none launched anything.
  std::uint32_t launch_of(std::int64_t correlation);
  // The index of a new launch, kNoLaunch if there are too many.
  static std::uint32_t add(CycleTrace& cycle, const LaunchRow& call);
  std::size_t bytes() const { return index_.bytes() + waiting_.size() * sizeof(Waiting); }
  // No more will follow. Frees the memory.
  void finish(CycleTrace& cycle);

 private:
  struct Waiting {
    LaunchRow call;
    std::int64_t correlation = 0;  // CorrelationIndex::kNone: no longer waiting
  };

  static void link(CycleTrace& cycle, std::uint32_t last_row, std::uint32_t launch);
  void wait(const LaunchRow& call, std::int64_t correlation);

  CorrelationIndex index_;
  std::deque<Waiting> waiting_;
  std::uint32_t given_up_ = 0;  // how many are no longer in waiting_, modulo 2^30
};

}  // namespace trainwatch
