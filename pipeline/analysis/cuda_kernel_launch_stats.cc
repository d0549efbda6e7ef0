// HTA's statistics of kernel launches: how long the calls take, what they launch, and how long that
// waits before it begins.
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/analysis/cycle_analysis.h"
#include "pipeline/analysis/json_table.h"
#include "pipeline/analysis/table_numbers.h"
#include "pipeline/cycle/launch_stats.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostNames = 64;  // of calls in a cycle

struct CycleLaunches {
  LaunchStats stats;
  std::vector<LaunchesOfName> by_name;

  void state(StateIo& io) {
    io(stats);
    auto count = static_cast<std::uint32_t>(by_name.size());
    io(count);
    if (count > kMostNames) io.fail();
    if (io.is_loading()) by_name.assign(io.ok() ? count : 0, {});
    for (LaunchesOfName& of : by_name) {
      io(of.name);
      io(of.count);
      io(of.rows);
      io(of.cpu_ns);
      io(of.gpu_ns);
      io(of.delay_ns);
    }
  }
};

class CudaKernelLaunchStats final : public CycleAnalysis<CycleLaunches> {
 public:
  using CycleAnalysis::CycleAnalysis;

  void write(JsonWriter& json) const override {
    JsonTable table(json, {"rank", "count", "short_kernels", "runtime_outliers",
                           "launch_delay_outliers", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleLaunches& cycle) {
      const LaunchStats& of = cycle.stats;
      table.row(key.rank, of.count, of.short_kernels, of.runtime_outliers, of.launch_delay_outliers,
                key.cycle, key.node);
    });
    table.end_rows();
    json.key("durations");
    write_durations(json);
    json.key("by_name");
    write_names(json);
    end(json);
  }

 protected:
  CycleLaunches result_of(const SelectedCycle& selected) override {
    CycleLaunches found{launch_stats(selected.cycle(), selected.rows()),
                        launches_by_name(selected.cycle(), selected.rows())};
    bound(found.by_name, kMostNames);
    return found;
  }

 private:
  void write_durations(JsonWriter& json) const {
    JsonTable table(json, {"duration", "sum_ns", "min_ns", "max_ns", "mean_ns", "std_ns", "p50_ns",
                           "p95_ns", "p99_ns", "rank", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleLaunches& cycle) {
      const LaunchStats& stats = cycle.stats;
      const auto put = [&](const char* name, const DurationSummary& of) {
        table.row(name, of.sum_ns, whole_ns(of.min_ns), whole_ns(of.max_ns), whole_ns(of.mean_ns),
                  whole_ns(of.stddev_ns), whole_ns(of.p50_ns), whole_ns(of.p95_ns),
                  whole_ns(of.p99_ns), key.rank, key.cycle, key.node);
      };
      put("cpu_duration", stats.cpu_duration);
      put("gpu_duration", stats.gpu_duration);
      put("launch_delay", stats.launch_delay);
    });
    table.end();
  }

  void write_names(JsonWriter& json) const {
    JsonTable table(json, {"name", "count", "launched", "cpu_duration_ns", "gpu_duration_ns",
                           "launch_delay_ns", "rank", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleLaunches& cycle) {
      for (const LaunchesOfName& of : cycle.by_name) {
        table.row(of.name, of.count, of.rows, of.cpu_ns, of.gpu_ns, of.delay_ns, key.rank,
                  key.cycle, key.node);
      }
    });
    table.end();
  }
};

}  // namespace

extern const AnalysisSpec cuda_kernel_launch_stats_spec =
    cycle_analysis_spec<CudaKernelLaunchStats>(
        "cuda_kernel_launch_stats", "How long kernel launches take, and their kernels wait");

}  // namespace trainwatch
