// SPDX-License-Identifier: Apache-2.0
// What analyses find out about one cycle, as functions that tests can call: each is in the file of
// its analysis, which makes tables of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/analysis/hta/durations_by_name.h"
#include "pipeline/cycle/launches.h"
#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

// How the time of a device divides (temporal_breakdown).
struct TemporalBreakdown {
  std::int64_t idle_ns = 0;         // no activity on any stream
  std::int64_t compute_ns = 0;      // computation on some stream
  std::int64_t non_compute_ns = 0;  // communication, copies and waits that no computation hides
  std::int64_t kernel_ns = 0;       // from the first start to the last end: the sum of these
};

// All zero when there are no rows. O(n log n).
TemporalBreakdown temporal_breakdown(const CycleTrace& cycle, DeviceRows rows);

// How much of the communication is hidden behind computation (comm_comp_overlap).
struct CommCompOverlap {
  std::int64_t communication_ns = 0;
  std::int64_t overlapped_ns = 0;  // of it, while something is computed
};

// O(n log n).
CommCompOverlap comm_comp_overlap(const CycleTrace& cycle, DeviceRows rows);

// How the time of a device divides by kind of activity and by kernel (gpu_kernel_breakdown).
// Concurrent kinds of activity, one bit each.
inline constexpr std::size_t kComputationBit = 1;
inline constexpr std::size_t kCommunicationBit = 2;
inline constexpr std::size_t kMemoryBit = 4;
inline constexpr std::size_t kActivityMixes = 8;

// How long each mix of kinds ran, in ns. Class `other` does not count. O(n log n).
std::array<std::int64_t, kActivityMixes> time_by_activity_mix(const CycleTrace& cycle,
                                                              DeviceRows rows, bool with_memory);

// Kernels of one class by name, as durations_by_name() has them.
std::vector<NameStats> kernels_by_name(const CycleTrace& cycle, DeviceRows rows,
                                       ActivityClass wanted, std::size_t most);

// How long the program's own annotations took, on the host or on the device
// (user_annotation_breakdown), as durations_by_name() has them.
std::vector<NameStats> annotations_by_name(const SelectedCycle& selected, bool on_device,
                                           std::size_t most);

// How long launches take on the host, what they launch, and how long it waits before it begins
// (cuda_kernel_launch_stats).
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
  DurationSummary launch_delay;  // from the end of the call to the start of its (first) activity
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

// All calls that launched activities, graphs among them; by time on the host, the longest first.
std::vector<LaunchesOfName> launches_by_name(const CycleTrace& cycle, DeviceRows rows);

// Which sequences of kernels operators launch, and how often each: where kernels may be fused, or
// launched as a graph (frequent_kernel_sequences).
inline constexpr std::size_t kFewestKernels = 3;  // of a sequence: HTA's min_pattern_len

struct KernelSequence {
  NameId op{};
  std::vector<NameId> kernels;  // by start
  std::uint64_t count = 0;
  std::int64_t device_ns = 0;  // sums over the `count` times
  std::int64_t host_ns = 0;
};

// By count, then time on the device, the most first; then by the names.
//
// Operators are the outermost events of a thread that carry `text` in their names, whatever their
// kind; where it is empty, the outermost ones of kind `op` that are no step. Theirs is what was
// launched by calls of the same thread that began while they ran: all kernels of a graph, copies
// and fills too, waits not; and only `rows`. O(n log n); needs CycleTrace::host.
std::vector<KernelSequence> kernel_sequences(const CycleTrace& cycle, DeviceRows rows,
                                             std::string_view text);

}  // namespace trainwatch
