// SPDX-License-Identifier: Apache-2.0
// What /metrics shows of the GPU activity of each rank, from the cycles of its profiler: of the
// latest cycle where it is a ratio, of all of them where it is a total.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/analysis/core/metric_families.h"
#include "pipeline/cycle/step_selection.h"
#include "trainwatch/cycle_summary.h"
#include "trainwatch/interner.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

class GpuMetrics {
 public:
  static constexpr std::size_t kMaxRanks = 1000;

  explicit GpuMetrics(const Interner& interner) : interner_(interner) {}

  static constexpr std::size_t kMaxKinds = 8;  // of copies and fills, per rank

  // `summary` is the same cycle's. Of a cycle without GPU activity only the steps count.
  void on(const SelectedCycle& selected, const CycleSummary& summary);

  // Appends the families.
  void collect(const MetricsView& view, std::vector<MetricFamily>& out) const;

  // Ranks that had no room.
  std::uint64_t ranks_dropped() const { return dropped_; }

  void state(StateIo& io);

 private:
  struct Rank {
    // Of the latest cycle.
    std::int64_t window_ns = 0;
    std::int64_t busy_ns = 0;
    std::int64_t cycle_communication_ns = 0;
    std::int64_t overlapped_ns = 0;
    std::int64_t step_ns = 0;
    std::int64_t data_wait_ns = 0;
    std::int64_t longest_queue = 0;
    std::map<std::string, double> bytes_per_second;  // by kind of copy, while it goes on
    // The sums over all cycles, in nanoseconds.
    std::array<std::int64_t, kIdleCauses> idle_ns{};
    std::int64_t computation_ns = 0;
    std::int64_t communication_ns = 0;
    std::int64_t memory_ns = 0;
    LaunchHistogram launch_delay;

    void add(const CycleSummary& summary);
    void state(StateIo& io);
  };

  void collect_ratios(std::vector<MetricFamily>& out) const;
  void collect_totals(std::vector<MetricFamily>& out) const;
  void collect_launches(const MetricsView& view, std::vector<MetricFamily>& out) const;
  void collect_bandwidth(std::vector<MetricFamily>& out) const;

  const Interner& interner_;
  std::map<SubjectId, Rank> ranks_;
  Rank other_;        // the totals of ranks beyond kMaxRanks
  LeftOut left_out_;  // since the start; which they were is not saved
  std::uint64_t dropped_ = 0;
};

}  // namespace trainwatch
