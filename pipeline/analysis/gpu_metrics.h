// What /metrics shows of the GPU work of each rank, from the cycles of its profiler: of the latest
// cycle where it is a ratio, of all of them where it is a total.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "pipeline/analysis/histogram.h"
#include "pipeline/cycle/cycle_measure.h"
#include "trainwatch/cycle_trace.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

class GpuMetrics {
 public:
  static constexpr std::size_t kMaxRanks = 1000;

  explicit GpuMetrics(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  // A cycle without GPU work tells nothing but its steps.
  void on(const CycleTrace& cycle);

  // Appends the families.
  void collect(std::vector<MetricFamily>& out) const;

  std::uint64_t ranks_dropped() const { return dropped_; }

  void state(StateIo& io);

 private:
  struct Rank {
    CycleMeasure latest;
    // The sums over all cycles, in nanoseconds.
    std::array<std::int64_t, kIdleCauses> idle_ns{};
    std::int64_t computation_ns = 0;
    std::int64_t communication_ns = 0;
    std::int64_t memory_ns = 0;
    BasicHistogram<kLaunchBounds> launch_delay;
    std::int64_t longest_queue = 0;  // in the latest cycle

    void add(const CycleMeasure& measured);
    void state(StateIo& io);
  };

  void collect_ratios(std::vector<MetricFamily>& out) const;
  void collect_totals(std::vector<MetricFamily>& out) const;
  void collect_launches(std::vector<MetricFamily>& out) const;

  const Vocabulary& vocabulary_;
  std::map<SubjectId, Rank> ranks_;
  std::uint64_t dropped_ = 0;  // cycles of ranks beyond kMaxRanks
};

}  // namespace trainwatch
