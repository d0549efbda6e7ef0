// Joins device work with the calls that launched it, by correlation, in whatever order the file has
// them: work before its call (nearly all writers), after it (ROCm), or far away (MTIA). A call may
// launch any number of rows.
//
// A call that launched nothing yet, and whose name does not say that it will, waits for its work;
// the oldest is given up when kMostWaiting do. Everything else is joined at any distance.
#pragma once

#include <cstdint>
#include <deque>

#include "pipeline/decode/correlation_index.h"
#include "trainwatch/cycle_trace.h"

namespace trainwatch {

class LaunchLinks {
 public:
  static constexpr std::size_t kMostWaiting = std::size_t{1} << 17U;
  static constexpr std::size_t kMostLaunches = std::size_t{1} << 20U;

  // The newest row of `cycle.device`.
  void device_row(CycleTrace& cycle, std::int64_t correlation);
  // `launches`: its name says so.
  void call(CycleTrace& cycle, const LaunchRow& call, std::int64_t correlation, bool launches);
  // The call of a correlation, kNoRow where none launched anything.
  std::uint32_t launch_of(std::int64_t correlation);
  // The index of a new launch, kNoRow when there are too many.
  static std::uint32_t add(CycleTrace& cycle, const LaunchRow& call);
  // Nothing follows. Gives its memory back.
  void finish(CycleTrace& cycle);

 private:
  struct Waiting {
    LaunchRow call;
    std::int64_t correlation = 0;  // CorrelationIndex::kNone: it waits no longer
  };

  static void link(CycleTrace& cycle, std::uint32_t last_row, std::uint32_t launch);
  void wait(const LaunchRow& call, std::int64_t correlation);

  CorrelationIndex index_;
  std::deque<Waiting> waiting_;
  std::uint32_t given_up_ = 0;  // how many are no longer in waiting_, modulo 2^30
};

}  // namespace trainwatch
