// How long launches take on the host, what they launch, and how long it waits before it begins.
#pragma once

#include <string>
#include <vector>

#include "pipeline/cycle/launches.h"

namespace trainwatch {

inline constexpr std::int64_t kLongLaunchNs = 50'000;
inline constexpr std::int64_t kLongLaunchDelayNs = 100'000;

struct DurationSummary {
  std::int64_t sum_ns = 0;
  double min_ns = 0;  // NaN when there are none, as all that follow
  double max_ns = 0;
  double mean_ns = 0;
  double stddev_ns = 0;
  double p50_ns = 0;
  double p95_ns = 0;
  double p99_ns = 0;
};

struct LaunchStats {
  std::uint64_t count = 0;
  std::uint64_t short_kernels = 0;     // shorter than the call that launched them, itself not long
  std::uint64_t runtime_outliers = 0;  // calls longer than 50 us
  std::uint64_t launch_delay_outliers = 0;  // more than 100 us from the end of the call
  DurationSummary cpu_duration;
  DurationSummary gpu_duration;
  DurationSummary launch_delay;  // from the end of the call to the start of its (first) work
};

// Plain launches, as HTA has it. O(n log n).
LaunchStats launch_stats(const CycleTrace& cycle, DeviceRows rows);

struct LaunchesOfName {
  std::string name;
  std::uint64_t count = 0;
  std::uint64_t rows = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t gpu_ns = 0;
  std::int64_t delay_ns = 0;
};

// All calls that launched work, graphs among them; by time on the host, the longest first.
std::vector<LaunchesOfName> launches_by_name(const CycleTrace& cycle, DeviceRows rows);

}  // namespace trainwatch
