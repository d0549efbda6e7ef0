#include "pipeline/cycle/launch_stats.h"

#include <algorithm>

#include "pipeline/cycle/sorted_values.h"

namespace trainwatch {
namespace {

// How long the work waited after the call; 0 when it began during the call.
std::int64_t delay_of(const CycleTrace& cycle, const LaunchedWork& work) {
  return std::max<std::int64_t>(0, work.first_start_ns - cycle.launches[work.launch].end_ns());
}

// Of what `duration` says of each piece of work.
template <class Duration>
DurationSummary summary_of(const std::vector<LaunchedWork>& all, Duration&& duration) {
  std::int64_t sum_ns = 0;
  std::vector<double> values;
  values.reserve(all.size());
  for (const LaunchedWork& work : all) {
    sum_ns += duration(work);
    values.push_back(static_cast<double>(duration(work)));
  }
  const SortedValues sorted(std::move(values));
  return {sum_ns,          sorted.min(),          sorted.max(),          sorted.mean(),
          sorted.stddev(), sorted.quantile(0.50), sorted.quantile(0.95), sorted.quantile(0.99)};
}

}  // namespace

LaunchStats launch_stats(const CycleTrace& cycle, DeviceRows rows) {
  std::vector<LaunchedWork> all = launched_work(cycle, rows);
  const auto launch_of = [&cycle](const LaunchedWork& work) -> const LaunchRow& {
    return cycle.launches[work.launch];
  };
  std::erase_if(all, [&](const LaunchedWork& work) {
    return !is_plain_launch(cycle.names.text(launch_of(work).name));
  });
  LaunchStats found;
  found.count = all.size();
  for (const LaunchedWork& work : all) {
    const std::int64_t call_ns = launch_of(work).duration_ns;
    const bool is_long = call_ns > kLongLaunchNs;
    if (is_long) ++found.runtime_outliers;
    if (!is_long && work.device_ns < call_ns) ++found.short_kernels;
    if (delay_of(cycle, work) > kLongLaunchDelayNs) ++found.launch_delay_outliers;
  }
  found.cpu_duration =
      summary_of(all, [&](const LaunchedWork& work) { return launch_of(work).duration_ns; });
  found.gpu_duration = summary_of(all, [](const LaunchedWork& work) { return work.device_ns; });
  found.launch_delay =
      summary_of(all, [&](const LaunchedWork& work) { return delay_of(cycle, work); });
  return found;
}

std::vector<LaunchesOfName> launches_by_name(const CycleTrace& cycle, DeviceRows rows) {
  std::vector<LaunchesOfName> by_id(cycle.names.size());
  for (const LaunchedWork& work : launched_work(cycle, rows)) {
    const LaunchRow& launch = cycle.launches[work.launch];
    LaunchesOfName& of = by_id[static_cast<std::size_t>(launch.name)];
    if (of.count++ == 0) of.name = cycle.names.text(launch.name);
    of.rows += work.rows;
    of.cpu_ns += launch.duration_ns;
    of.gpu_ns += work.device_ns;
    of.delay_ns += delay_of(cycle, work);
  }
  std::erase_if(by_id, [](const LaunchesOfName& of) { return of.count == 0; });
  std::sort(by_id.begin(), by_id.end(), [](const LaunchesOfName& a, const LaunchesOfName& b) {
    return a.cpu_ns != b.cpu_ns ? a.cpu_ns > b.cpu_ns : a.name < b.name;
  });
  return by_id;
}

}  // namespace trainwatch
