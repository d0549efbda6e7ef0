// HTA's breakdown of GPU kernels: time by mix of kinds of work, and by kernel.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/analysis/cycle_analysis.h"
#include "pipeline/analysis/json_table.h"
#include "pipeline/analysis/named_durations.h"
#include "pipeline/analysis/table_numbers.h"
#include "pipeline/cycle/kernel_breakdown.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostKernels = 256;  // of a class in a cycle
constexpr std::array kClasses = {
    std::pair{WorkClass::computation, "COMPUTATION"},
    std::pair{WorkClass::communication, "COMMUNICATION"},
    std::pair{WorkClass::memory, "MEMORY"},
};

using MixTimes = std::array<std::int64_t, kWorkMixes>;

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

  void write(JsonWriter& json) const override {
    json.begin_object().key("kernel_type");
    write_mixes(json, &CycleKernels::mixes);
    json.key("kernel_type_with_memory");
    write_mixes(json, &CycleKernels::mixes_with_memory);
    json.key("kernels");
    write_kernels(json);
    end(json);
  }

 protected:
  CycleKernels result_of(const SelectedCycle& selected) override {
    const CycleTrace& cycle = selected.cycle();
    CycleKernels found{time_by_work_mix(cycle, selected.rows(), false),
                       time_by_work_mix(cycle, selected.rows(), true),
                       {}};
    for (std::size_t i = 0; i < kClasses.size(); ++i)
      found.kernels[i] = kernels_by_name(cycle, selected.rows(), kClasses[i].first, kMostKernels);
    return found;
  }

 private:
  void write_mixes(JsonWriter& json, MixTimes CycleKernels::*which) const {
    JsonTable table(json, {"kernel_type", "sum_ns", "percentage", "rank", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleKernels& cycle) {
      std::vector<std::pair<std::int64_t, std::size_t>> longest;
      std::int64_t total = 0;
      for (std::size_t mix = 1; mix < kWorkMixes; ++mix) {
        const std::int64_t time = (cycle.*which)[mix];
        total += time;
        if (time > 0) longest.emplace_back(-time, mix);
      }
      std::sort(longest.begin(), longest.end());
      for (const auto& [time, mix] : longest) {
        table.row(label_of(mix), -time, percentage(-time, total, 1), key.rank, key.cycle, key.node);
      }
    });
    table.end();
  }

  void write_kernels(JsonWriter& json) const {
    JsonTable table(json, {"name", "count", "sum_ns", "max_ns", "min_ns", "stddev_ns", "mean_ns",
                           "kernel_type", "rank", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleKernels& cycle) {
      for (std::size_t i = 0; i < kClasses.size(); ++i) {
        for (const auto& [name, of] : cycle.kernels[i]) {
          table.row(name, of.count, of.sum_ns, of.max_ns, of.min_ns, whole_ns(of.stddev_ns),
                    whole_ns(of.mean_ns), kClasses[i].second, key.rank, key.cycle, key.node);
        }
      }
    });
    table.end();
  }
};

}  // namespace

extern const AnalysisSpec gpu_kernel_breakdown_spec = cycle_analysis_spec<GpuKernelBreakdown>(
    "gpu_kernel_breakdown", "Which kinds of work and which kernels a GPU's time goes to");

}  // namespace trainwatch
