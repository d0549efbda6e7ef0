// SPDX-License-Identifier: Apache-2.0
// HTA's breakdown of GPU kernels: time by mix of activity kinds, and by kernel.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/analysis/hta/cycle_analysis.h"
#include "pipeline/analysis/hta/cycle_results.h"
#include "pipeline/analysis/hta/durations_by_name.h"
#include "pipeline/cycle/activity_sweep.h"

namespace trainwatch {

std::array<std::int64_t, kActivityMixes> time_by_activity_mix(const CycleTrace& cycle,
                                                              DeviceRows rows, bool with_memory) {
  std::array<std::int64_t, kActivityMixes> times{};
  sweep_activity(cycle, rows_by_start(cycle, {rows.begin(), rows.end()}),
                 [&](const ActivitySegment& segment) {
                   std::size_t mix = 0;
                   if (segment.has(ActivityClass::computation)) mix |= kComputationBit;
                   if (segment.has(ActivityClass::communication)) mix |= kCommunicationBit;
                   if (with_memory && segment.has(ActivityClass::memory)) mix |= kMemoryBit;
                   times[mix] += segment.end_ns - segment.start_ns;
                 });
  times[0] = 0;
  return times;
}

std::vector<NameStats> kernels_by_name(const CycleTrace& cycle, DeviceRows rows,
                                       ActivityClass wanted, std::size_t most) {
  std::vector<NamedDuration> durations;
  const auto is_one = [&](std::uint32_t index) {
    return cycle.device[index].activity_class == wanted;
  };
  durations.reserve(static_cast<std::size_t>(std::ranges::count_if(rows, is_one)));
  for (const std::uint32_t index : rows) {
    const DeviceActivity& row = cycle.device[index];
    if (is_one(index)) durations.push_back({row.name, row.duration_ns});
  }
  return durations_by_name(cycle.names, std::move(durations), most);
}

namespace {

constexpr std::size_t kMostKernels = 256;  // of a class in a cycle
constexpr std::array kClasses = {
    std::pair{ActivityClass::computation, "COMPUTATION"},
    std::pair{ActivityClass::communication, "COMMUNICATION"},
    std::pair{ActivityClass::memory, "MEMORY"},
};

using MixTimes = std::array<std::int64_t, kActivityMixes>;

struct CycleKernels {
  MixTimes mixes{};
  MixTimes mixes_with_memory{};
  std::array<std::vector<NameStats>, kClasses.size()> kernels;

  void state(StateIo& io) {
    io(mixes);
    io(mixes_with_memory);
    for (std::vector<NameStats>& names : kernels) named_durations_state(io, names, kMostKernels);
  }
};

// "COMPUTATION overlapping MEMORY"
std::string label_of(std::size_t mix) {
  std::string label;
  for (std::size_t bit = 0; bit < kClasses.size(); ++bit) {
    if ((mix >> bit & 1U) == 0) continue;
    if (!label.empty()) label += " overlapping ";
    label += kClasses[bit].second;
  }
  return label;
}

class GpuKernelBreakdown final : public CycleAnalysis<CycleKernels> {
 public:
  using CycleAnalysis::CycleAnalysis;

  Figures figures() const override {
    Figures out;
    add_mixes(out.group("kernel_type"), &CycleKernels::mixes);
    add_mixes(out.group("kernel_type_with_memory"), &CycleKernels::mixes_with_memory);
    add_kernels(out.group("kernels"));
    add_left_out(out);
    return out;
  }

 protected:
  CycleKernels result_of(const SelectedCycle& selected) override {
    const CycleTrace& cycle = selected.cycle();
    CycleKernels found{time_by_activity_mix(cycle, selected.rows(), false),
                       time_by_activity_mix(cycle, selected.rows(), true),
                       {}};
    for (std::size_t i = 0; i < kClasses.size(); ++i)
      found.kernels[i] = kernels_by_name(cycle, selected.rows(), kClasses[i].first, kMostKernels);
    return found;
  }

 private:
  void add_mixes(Figures& out, MixTimes CycleKernels::*which) const {
    FigureTable& table =
        out.table({"kernel_type", "sum_ns", "percentage", "rank", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleKernels& cycle) {
      std::vector<std::pair<std::int64_t, std::size_t>> longest;
      std::int64_t total = 0;
      for (std::size_t mix = 1; mix < kActivityMixes; ++mix) {
        const std::int64_t time = (cycle.*which)[mix];
        total += time;
        if (time > 0) longest.emplace_back(-time, mix);
      }
      std::sort(longest.begin(), longest.end());
      for (const auto& [time, mix] : longest) {
        table.row(label_of(mix), -time, percentage(-time, total, 1), key.rank, key.cycle, key.node);
      }
    });
  }

  void add_kernels(Figures& out) const {
    FigureTable& table = out.table({"name", "count", "sum_ns", "max_ns", "min_ns", "stddev_ns",
                                    "mean_ns", "kernel_type", "rank", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleKernels& cycle) {
      for (std::size_t i = 0; i < kClasses.size(); ++i) {
        for (const auto& [name, of] : cycle.kernels[i]) {
          table.row(name, of.count, of.sum_ns, of.max_ns, of.min_ns, whole_ns(of.stddev_ns),
                    whole_ns(of.mean_ns), kClasses[i].second, key.rank, key.cycle, key.node);
        }
      }
    });
  }
};

}  // namespace

const AnalysisSpec& gpu_kernel_breakdown_analysis() {
  static const AnalysisSpec spec = make_spec<GpuKernelBreakdown>(
      {.name = "gpu_kernel_breakdown",
       .summary = "How the time of a GPU divides by kind of activity and by kernel"});
  return spec;
}

}  // namespace trainwatch
