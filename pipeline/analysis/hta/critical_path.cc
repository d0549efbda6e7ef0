// SPDX-License-Identifier: Apache-2.0
// HTA's critical path of each step: what its length is bound by, and who contributes most to it.
#include "pipeline/analysis/hta/critical_path.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "pipeline/analysis/hta/cycle_analysis.h"
#include "pipeline/analysis/hta/durations_by_name.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostPathSteps = 128;  // of a cycle
constexpr std::size_t kMostContributors = 10;

std::string_view text_of(BoundBy bound) {
  constexpr std::string_view kTexts[] = {"cpu_bound",
                                         "data_loading",
                                         "gpu_compute_bound",
                                         "gpu_communication_bound",
                                         "gpu_memory_bound",
                                         "gpu_kernel_kernel_overhead",
                                         "gpu_kernel_launch_overhead"};
  static_assert(std::size(kTexts) == static_cast<std::size_t>(BoundBy::count_));
  return kTexts[static_cast<std::size_t>(bound)];
}

struct Contribution {
  std::string name;
  BoundBy bound{};
  bool on_device = false;
  std::int64_t time_ns = 0;
  std::uint64_t count = 0;

  void state(StateIo& io) {
    io(name);
    io(bound);
    if (bound >= BoundBy::count_) io.fail();
    io(on_device);
    io(time_ns);
    io(count);
  }
};

struct StepPath {
  std::int64_t number = 0;
  std::int64_t duration_ns = 0;
  std::int64_t length_ns = 0;
  std::array<std::int64_t, static_cast<std::size_t>(BoundBy::count_)> bound_ns{};
  std::uint64_t edges_left_out = 0;
  std::vector<Contribution> contributors;

  void state(StateIo& io) {
    io(number);
    io(duration_ns);
    io(length_ns);
    io(bound_ns);
    io(edges_left_out);
    io(contributors);
    if (contributors.size() > kMostContributors) io.fail();
  }
};

struct CyclePaths {
  bool has_syncs = false;
  std::vector<StepPath> steps;

  void state(StateIo& io) {
    io(has_syncs);
    io(steps);
    if (steps.size() > kMostPathSteps) io.fail();
  }
};

StepPath path_of(const StepGraphs& graphs, const StepRow& step, const NameTable& names) {
  const PathGraph graph = graphs.of(step);
  const CriticalPath path = critical_path(graph, names);
  StepPath found{step.number,   step.duration_ns, path.length_ns,
                 path.bound_ns, graph.left_out(), {}};
  const std::size_t most = std::min(path.contributors.size(), kMostContributors);
  for (const PathContributor& of : std::span(path.contributors).first(most)) {
    found.contributors.push_back(
        {cut_name(names.text(of.name)), of.bound, of.on_device, of.time_ns, of.count});
  }
  return found;
}

class CriticalPaths final : public CycleAnalysis<CyclePaths> {
 public:
  using CycleAnalysis::CycleAnalysis;

  Figures figures() const override {
    Figures out;
    add_steps(out);
    add_contributors(out.group("contributors"));
    bool some_have = false;
    bool all_have = true;
    results().each([&](const CycleKey&, const CyclePaths& cycle) {
      some_have = some_have || cycle.has_syncs;
      all_have = all_have && cycle.has_syncs;
    });
    out.add("sync_events", some_have && all_have);
    add_left_out(out);
    return out;
  }

 protected:
  CyclePaths result_of(const SelectedCycle& selected) override {
    const CycleTrace& cycle = selected.cycle();
    CyclePaths found;
    found.has_syncs = !cycle.syncs.empty();
    const StepGraphs graphs(selected);
    for (const StepRow& step : cycle.steps) {
      if (!selected.counts(step)) continue;
      if (found.steps.size() == kMostPathSteps) {
        leave_out();
        continue;
      }
      found.steps.push_back(path_of(graphs, step, cycle.names));
    }
    return found;
  }

 private:
  void add_steps(Figures& out) const {
    FigureTable& table = out.table({"iteration",
                                    "rank",
                                    "critical_path_ns",
                                    "step_ns",
                                    "cpu_bound_ns",
                                    "data_loading_ns",
                                    "gpu_compute_bound_ns",
                                    "gpu_communication_bound_ns",
                                    "gpu_memory_bound_ns",
                                    "gpu_kernel_kernel_overhead_ns",
                                    "gpu_kernel_launch_overhead_ns",
                                    "cpu_bound_pctg",
                                    "data_loading_pctg",
                                    "gpu_compute_bound_pctg",
                                    "gpu_communication_bound_pctg",
                                    "gpu_memory_bound_pctg",
                                    "gpu_kernel_kernel_overhead_pctg",
                                    "gpu_kernel_launch_overhead_pctg",
                                    "sync_events",
                                    "edges_left_out",
                                    "cycle",
                                    "node"});
    each_step([&](const CycleKey& key, const CyclePaths& cycle, const StepPath& step) {
      const auto& ns = step.bound_ns;
      const auto share = [&](std::size_t i) { return percentage(ns[i], step.length_ns, 2); };
      static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(ns)>> == 7);
      table.row(step.number, key.rank, step.length_ns, step.duration_ns, ns[0], ns[1], ns[2], ns[3],
                ns[4], ns[5], ns[6], share(0), share(1), share(2), share(3), share(4), share(5),
                share(6), cycle.has_syncs, step.edges_left_out, key.cycle, key.node);
    });
  }

  void add_contributors(Figures& out) const {
    FigureTable& table = out.table({"iteration", "rank", "name", "on", "bound_by", "time_ns",
                                    "pctg", "count", "cycle", "node"});
    each_step([&](const CycleKey& key, const CyclePaths&, const StepPath& step) {
      for (const Contribution& of : step.contributors) {
        table.row(step.number, key.rank, of.name, of.on_device ? "device" : "host",
                  text_of(of.bound), of.time_ns, percentage(of.time_ns, step.length_ns, 2),
                  of.count, key.cycle, key.node);
      }
    });
  }

  template <class Use>
  void each_step(Use&& use) const {
    results().each([&](const CycleKey& key, const CyclePaths& cycle) {
      for (const StepPath& step : cycle.steps) use(key, cycle, step);
    });
  }
};

}  // namespace

const AnalysisSpec& critical_path_analysis() {
  static const AnalysisSpec spec = make_spec<CriticalPaths>(
      {.name = "critical_path",
       .summary = "What bounds the length of each step, on the host and on the GPU",
       .live = false,
       .host_events = true});
  return spec;
}

}  // namespace trainwatch
