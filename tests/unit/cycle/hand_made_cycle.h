// SPDX-License-Identifier: Apache-2.0
// A cycle built by hand. Times in microseconds. (Its name must not be that of the class in
// pipeline/decode: tests that link both would get one of them.)
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "pipeline/cycle/launches.h"
#include "pipeline/cycle/step_selection.h"
#include "trainwatch/cycle_trace.h"

namespace trainwatch {

class HandMadeCycle {
 public:
  struct Activity {
    std::int64_t start = 0;
    std::int64_t duration = 0;
    std::int32_t stream = 7;
    std::uint32_t launch = kNoLaunch;
  };

  // What launches return is for the activity that they launch.
  std::uint32_t launch(std::int64_t start, std::int64_t duration = 5,
                       const std::string& name = "cudaLaunchKernel") {
    cycle_.launches.push_back({start * 1000, duration * 1000, cycle_.names.intern(name)});
    return static_cast<std::uint32_t>(cycle_.launches.size() - 1);
  }
  HandMadeCycle& compute(const Activity& activity, const std::string& name = "gemm") {
    return add(activity, name, DeviceKind::kernel, ActivityClass::computation);
  }
  HandMadeCycle& communicate(const Activity& activity,
                             const std::string& name = "ncclDevKernel_AllReduce") {
    return add(activity, name, DeviceKind::kernel, ActivityClass::communication);
  }
  HandMadeCycle& within_layers() {
    cycle_.device.back().within_layers = true;
    return *this;
  }
  HandMadeCycle& copy(const Activity& activity, float gbps,
                      const std::string& name = "Memcpy HtoD") {
    add(activity, name, DeviceKind::memory_copy, ActivityClass::memory);
    cycle_.places.back().memory_gbps = gbps;
    return *this;
  }
  HandMadeCycle& wait(const Activity& activity) {
    return add(activity, "Stream Sync", DeviceKind::sync, ActivityClass::other);
  }
  HandMadeCycle& annotate(std::int64_t start, std::int64_t duration, const std::string& name,
                          bool on_device = false) {
    cycle_.annotations.push_back(
        {start * 1000, duration * 1000, cycle_.names.intern(name), on_device});
    return *this;
  }
  // An event of a thread of the host.
  HandMadeCycle& host(std::int64_t start, std::int64_t duration, const std::string& name,
                      std::uint32_t thread = 0, HostKind kind = HostKind::op) {
    cycle_.host.push_back(
        {start * 1000, duration * 1000, cycle_.names.intern(name), thread, kNoLaunch, kind});
    return *this;
  }
  // A launch as its thread has it; what it returns is for the activity that it launches.
  std::uint32_t call(std::int64_t start, std::uint32_t thread = 0, std::int64_t duration = 5,
                     const std::string& name = "cudaLaunchKernel") {
    const std::uint32_t index = launch(start, duration, name);
    host(start, duration, name, thread, HostKind::call);
    cycle_.host.back().launch = index;
    return index;
  }
  HandMadeCycle& step(std::int64_t number, std::int64_t start, std::int64_t duration) {
    cycle_.steps.push_back({start * 1000, duration * 1000, number, 0});
    return *this;
  }
  HandMadeCycle& of(SubjectId subject, std::int64_t number = 0) {
    cycle_.subject = subject;
    cycle_.number = number;
    return *this;
  }

  // Once.
  CycleTrace build() {
    std::stable_sort(cycle_.device.begin(), cycle_.device.end(),
                     [this](const DeviceActivity& a, const DeviceActivity& b) {
                       return std::tuple(cycle_.stream_of(a), a.start_ns) <
                              std::tuple(cycle_.stream_of(b), b.start_ns);
                     });
    std::stable_sort(cycle_.host.begin(), cycle_.host.end(),
                     [](const HostEvent& a, const HostEvent& b) {
                       return std::tuple(a.thread, a.start_ns, -a.duration_ns) <
                              std::tuple(b.thread, b.start_ns, -b.duration_ns);
                     });
    return std::move(cycle_);
  }

 protected:
  HandMadeCycle& add(const Activity& activity, const std::string& name, DeviceKind kind,
                     ActivityClass type) {
    DeviceActivity& row = cycle_.device.emplace_back();
    row.start_ns = activity.start * 1000;
    row.duration_ns = activity.duration * 1000 & DeviceActivity::kLongestNs;
    row.name = cycle_.names.intern(name);
    row.launch = activity.launch & kNoLaunch;
    row.place = cycle_.places.size() & DeviceActivity::kMostPlaces;  // its own
    row.kind = kind;
    row.activity_class = type;
    cycle_.places.push_back({activity.stream, 0, 0});
    return *this;
  }

  CycleTrace cycle_;
};

inline std::vector<std::uint32_t> all_rows(const CycleTrace& cycle) {
  std::vector<std::uint32_t> rows(cycle.device.size());
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

struct StreamQueue {
  std::int64_t stream = 0;
  std::vector<QueueChange> changes;
};

// Everything that QueueSweep finds.
inline std::vector<StreamQueue> queue_length(const CycleTrace& cycle) {
  const std::vector<std::uint32_t> rows = all_rows(cycle);
  std::vector<StreamQueue> found;
  for (QueueSweep sweep(cycle, rows); sweep.next_stream();) {
    found.push_back({sweep.stream(), {}});
    for (QueueChange change; sweep.next(change);) found.back().changes.push_back(change);
  }
  return found;
}

// Of the first stream.
inline QueueSummary queue_summary(const CycleTrace& cycle) {
  const std::vector<std::uint32_t> rows = all_rows(cycle);
  QueueSweep sweep(cycle, rows);
  sweep.next_stream();
  return summarize(sweep);
}

}  // namespace trainwatch
