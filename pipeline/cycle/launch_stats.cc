#include "pipeline/cycle/launch_stats.h"

#include <algorithm>

#include "pipeline/cycle/sorted_values.h"

namespace trainwatch {
namespace {

// How long the work waited after the call; 0 when it began during the call.
std::int64_t delay_of(const CycleTrace& cycle, const LaunchedWork& work) {
  return std::max<std::int64_t>(0, work.first_start_ns - cycle.launches[work.launch].end_ns());
}

class Durations {
 public:
  void add(std::int64_t duration_ns) {
    sum_ns_ += duration_ns;
    values_.push_back(static_cast<double>(duration_ns));
  }
  DurationSummary take() {
    const SortedValues sorted(std::move(values_));
    return {sum_ns_,         sorted.min(),          sorted.max(),          sorted.mean(),
            sorted.stddev(), sorted.quantile(0.50), sorted.quantile(0.95), sorted.quantile(0.99)};
  }

 private:
  std::int64_t sum_ns_ = 0;
  std::vector<double> values_;
};

}  // namespace

LaunchStats launch_stats(const CycleTrace& cycle, DeviceRows rows) {
  LaunchStats found;
  Durations cpu;
  Durations gpu;
  Durations delay;
  for (const LaunchedWork& work : launched_work(cycle, rows)) {
    const LaunchRow& launch = cycle.launches[work.launch];
    if (!is_plain_launch(cycle.names.text(launch.name))) continue;
    const std::int64_t delay_ns = delay_of(cycle, work);
    const bool is_long = launch.duration_ns > kLongLaunchNs;
    ++found.count;
    if (is_long) ++found.runtime_outliers;
    if (!is_long && work.device_ns < launch.duration_ns) ++found.short_kernels;
    if (delay_ns > kLongLaunchDelayNs) ++found.launch_delay_outliers;
    cpu.add(launch.duration_ns);
    gpu.add(work.device_ns);
    delay.add(delay_ns);
  }
  found.cpu_duration = cpu.take();
  found.gpu_duration = gpu.take();
  found.launch_delay = delay.take();
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
