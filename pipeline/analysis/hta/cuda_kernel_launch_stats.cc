// SPDX-License-Identifier: Apache-2.0
// HTA's statistics of launches: how long calls and kernels take, and how long kernels wait.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/analysis/hta/cycle_analysis.h"
#include "pipeline/analysis/hta/cycle_results.h"
#include "pipeline/cycle/sorted_values.h"

namespace trainwatch {
namespace {

// How long the activity waited after the call; 0 when it began during the call.
std::int64_t delay_of(const CycleTrace& cycle, const LaunchedActivity& activity) {
  return std::max<std::int64_t>(0,
                                activity.first_start_ns - cycle.launches[activity.launch].end_ns());
}

// Of `duration` of each launched activity.
template <class Duration>
DurationSummary summary_of(const std::vector<LaunchedActivity>& all, Duration&& duration) {
  std::int64_t sum_ns = 0;
  std::vector<double> values;
  values.reserve(all.size());
  for (const LaunchedActivity& activity : all) {
    sum_ns += duration(activity);
    values.push_back(static_cast<double>(duration(activity)));
  }
  const SortedValues sorted(std::move(values));
  return {sum_ns,          sorted.min(),          sorted.max(),          sorted.mean(),
          sorted.stddev(), sorted.quantile(0.50), sorted.quantile(0.95), sorted.quantile(0.99)};
}

}  // namespace

LaunchStats launch_stats(const CycleTrace& cycle, DeviceRows rows) {
  const auto launch_of = [&cycle](const LaunchedActivity& activity) -> const LaunchRow& {
    return cycle.launches[activity.launch];
  };
  std::vector<LaunchedActivity> all;
  LaunchedActivities(cycle, rows).for_each([&](const LaunchedActivity& activity) {
    if (is_plain_launch(cycle.names.text(launch_of(activity).name))) all.push_back(activity);
  });
  LaunchStats found;
  found.count = all.size();
  for (const LaunchedActivity& activity : all) {
    const std::int64_t call_ns = launch_of(activity).duration_ns;
    const bool is_long = call_ns > kLongLaunchNs;
    if (is_long) ++found.runtime_outliers;
    if (!is_long && activity.device_ns < call_ns) ++found.short_kernels;
    if (delay_of(cycle, activity) > kLongLaunchDelayNs) ++found.launch_delay_outliers;
  }
  found.cpu_duration = summary_of(
      all, [&](const LaunchedActivity& activity) { return launch_of(activity).duration_ns; });
  found.gpu_duration =
      summary_of(all, [](const LaunchedActivity& activity) { return activity.device_ns; });
  found.launch_delay =
      summary_of(all, [&](const LaunchedActivity& activity) { return delay_of(cycle, activity); });
  return found;
}

std::vector<LaunchesOfName> launches_by_name(const CycleTrace& cycle, DeviceRows rows) {
  std::vector<LaunchesOfName> by_id(cycle.names.size());
  LaunchedActivities(cycle, rows).for_each([&](const LaunchedActivity& activity) {
    const LaunchRow& launch = cycle.launches[activity.launch];
    LaunchesOfName& of = by_id[static_cast<std::size_t>(launch.name)];
    if (of.count++ == 0) of.name = cycle.names.text(launch.name);
    of.rows += activity.rows;
    of.cpu_ns += launch.duration_ns;
    of.gpu_ns += activity.device_ns;
    of.delay_ns += delay_of(cycle, activity);
  });
  std::erase_if(by_id, [](const LaunchesOfName& of) { return of.count == 0; });
  std::sort(by_id.begin(), by_id.end(), [](const LaunchesOfName& a, const LaunchesOfName& b) {
    return a.cpu_ns != b.cpu_ns ? a.cpu_ns > b.cpu_ns : a.name < b.name;
  });
  return by_id;
}

namespace {

constexpr std::size_t kMostCalls = 64;  // of calls in a cycle

struct CycleLaunches {
  LaunchStats stats;
  std::vector<LaunchesOfName> by_name;

  void state(StateIo& io) {
    io(stats);
    auto count = static_cast<std::uint32_t>(by_name.size());
    io(count);
    if (count > kMostCalls) io.fail();
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

  Figures figures() const override {
    Figures out;
    FigureTable& table = out.table({"rank", "count", "short_kernels", "runtime_outliers",
                                    "launch_delay_outliers", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleLaunches& cycle) {
      const LaunchStats& of = cycle.stats;
      table.row(key.rank, of.count, of.short_kernels, of.runtime_outliers, of.launch_delay_outliers,
                key.cycle, key.node);
    });
    add_durations(out.group("durations"));
    add_names(out.group("by_name"));
    add_left_out(out);
    return out;
  }

 protected:
  CycleLaunches result_of(const SelectedCycle& selected) override {
    CycleLaunches found{launch_stats(selected.cycle(), selected.rows()),
                        launches_by_name(selected.cycle(), selected.rows())};
    bound(found.by_name, kMostCalls);
    return found;
  }

 private:
  void add_durations(Figures& out) const {
    FigureTable& table = out.table({"duration", "sum_ns", "min_ns", "max_ns", "mean_ns", "std_ns",
                                    "p50_ns", "p95_ns", "p99_ns", "rank", "cycle", "node"});
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
  }

  void add_names(Figures& out) const {
    FigureTable& table = out.table({"name", "count", "launched", "cpu_duration_ns",
                                    "gpu_duration_ns", "launch_delay_ns", "rank", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleLaunches& cycle) {
      for (const LaunchesOfName& of : cycle.by_name) {
        table.row(of.name, of.count, of.rows, of.cpu_ns, of.gpu_ns, of.delay_ns, key.rank,
                  key.cycle, key.node);
      }
    });
  }
};

}  // namespace

const AnalysisSpec& cuda_kernel_launch_stats_analysis() {
  static const AnalysisSpec spec = make_spec<CudaKernelLaunchStats>(
      {.name = "cuda_kernel_launch_stats",
       .summary = "How long kernel launches take, and their kernels wait"});
  return spec;
}

}  // namespace trainwatch
