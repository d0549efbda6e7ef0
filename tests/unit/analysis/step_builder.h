// SPDX-License-Identifier: Apache-2.0
// A cycle with the events of the host, built by hand. Times in microseconds.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "pipeline/analysis/hta/critical_path.h"
#include "unit/cycle/hand_made_cycle.h"

namespace trainwatch {

class StepBuilder : public HandMadeCycle {
 public:
  struct Synced {
    std::uint32_t call = kNoLaunch;
    std::int32_t stream = kNoStream;
    std::int32_t waits_for = kNoStream;
    std::uint32_t event_record = kNoLaunch;
  };

  StepBuilder& op(std::int64_t start, std::int64_t duration, const std::string& name,
                  std::uint32_t thread = 0, HostKind kind = HostKind::op) {
    cycle_.host.push_back(
        {start * 1000, duration * 1000, cycle_.names.intern(name), thread, kNoLaunch, kind});
    return *this;
  }
  // Returns what is for the work that it launches.
  std::uint32_t call(std::int64_t start, std::int64_t duration = 5,
                     const std::string& name = "cudaLaunchKernel", std::uint32_t thread = 0) {
    const std::uint32_t index = launch(start, duration, name);
    op(start, duration, name, thread, HostKind::call);
    cycle_.host.back().launch = index;
    return index;
  }
  StepBuilder& sync(const std::string& name, const Synced& of) {
    cycle_.syncs.push_back({cycle_.launches[of.call].start_ns, cycle_.launches[of.call].duration_ns,
                            cycle_.names.intern(name), 0, of.stream, of.waits_for, of.call,
                            of.event_record});
    return *this;
  }

  // Once.
  CycleTrace build() {
    std::stable_sort(cycle_.host.begin(), cycle_.host.end(),
                     [](const HostEvent& a, const HostEvent& b) {
                       return std::tuple(a.thread, a.start_ns, -a.duration_ns) <
                              std::tuple(b.thread, b.start_ns, -b.duration_ns);
                     });
    return HandMadeCycle::build();
  }
};

// Of a step from 0 to 10 ms, which is nobody's event.
struct BuiltStep {
  CycleTrace cycle;
  PathGraph graph;
  CriticalPath path;

  explicit BuiltStep(StepBuilder& builder)
      : cycle(with_step(builder)),
        graph(StepGraphs(SelectedCycle(cycle, StepSelection::included)).of(cycle.steps[0])),
        path(critical_path(graph, cycle.names)) {}

  std::int64_t ns(BoundBy bound) const { return path.bound_ns[static_cast<std::size_t>(bound)]; }
  // 0: the name does not contribute.
  std::int64_t of(const std::string& name) const {
    std::int64_t sum_ns = 0;
    for (const PathContributor& part : path.contributors) {
      if (cycle.names.text(part.name) == name) sum_ns += part.time_ns;
    }
    return sum_ns;
  }

 private:
  static CycleTrace with_step(StepBuilder& builder) {
    builder.step(1, 0, 10'000);
    return builder.build();
  }
};

}  // namespace trainwatch
