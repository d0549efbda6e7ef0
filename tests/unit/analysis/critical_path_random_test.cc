// SPDX-License-Identifier: Apache-2.0
// Critical paths of random graphs and steps, against slower ways to find what they say.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "pipeline/analysis/hta/activity_dependencies.h"
#include "pipeline/cycle/launches.h"
#include "unit/analysis/step_builder.h"

namespace trainwatch::critical_path_random_test {

using Random = std::mt19937;

std::int64_t below(Random& random, std::int64_t end) {
  return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random);
}

// Bellman and Ford: as often as there are nodes, over all edges in any order.
std::int64_t longest_by_relaxing(std::size_t nodes, const std::vector<PathEdge>& edges) {
  std::vector<std::int64_t> length(nodes);
  for (std::size_t round = 0; round < nodes; ++round) {
    for (const PathEdge& edge : edges)
      length[edge.to] = std::max(length[edge.to], length[edge.from] + edge.weight_ns);
  }
  return *std::ranges::max_element(length);
}

// Whether it is a path, and how long.
std::int64_t length_of(const std::vector<std::uint32_t>& path, const std::vector<PathEdge>& edges) {
  std::int64_t length_ns = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i > 0) {
      EXPECT_EQ(edges[path[i - 1]].to, edges[path[i]].from);
    }
    length_ns += edges[path[i]].weight_ns;
  }
  return length_ns;
}

TEST(LongestPath, IsWhatRelaxingFinds) {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const auto nodes = static_cast<std::size_t>(2 + below(random, 12));
    std::vector<PathEdge> edges(static_cast<std::size_t>(below(random, 30)));
    for (PathEdge& edge : edges) {
      edge.to = static_cast<PathNode>(1 + below(random, static_cast<std::int64_t>(nodes) - 1));
      edge.from = static_cast<PathNode>(below(random, edge.to));
      edge.weight_ns = below(random, 5);
    }
    const auto path = longest_path(nodes, edges);
    EXPECT_EQ(length_of(path, edges), longest_by_relaxing(nodes, edges)) << seed;
  }
}

TEST(LongestPath, OfNoNodesIsEmpty) {
  EXPECT_TRUE(longest_path(0, {}).empty());
}

void add_sync(Random& random, StepBuilder& built, std::int64_t at, std::uint32_t thread) {
  const std::uint32_t record = built.call(at, 1 + below(random, 2), "cudaEventRecord", thread);
  const auto stream = static_cast<std::int32_t>(7 + below(random, 3));
  const auto other = static_cast<std::int32_t>(7 + below(random, 3));
  const std::int64_t kind = below(random, 4);
  const std::uint32_t call =
      built.call(at + 3, 1 + below(random, 30),
                 kind == 3 ? "cudaStreamWaitEvent" : "cudaEventSynchronize", thread);
  constexpr const char* kNames[] = {"Stream Sync", "Context Sync", "Event Sync",
                                    "Stream Wait Event"};
  built.sync(kNames[kind], {call, stream, other, record});
}

// Two threads, three streams, all kinds of edges; work follows its launch, or, on clocks that
// disagree, not always.
StepBuilder random_step(Random& random, bool clocks_agree) {
  StepBuilder built;
  built.op(0, 1, "forward", 0).op(0, 1, "autograd", 1);
  for (std::int64_t i = 0; i < 30; ++i) {
    const auto thread = static_cast<std::uint32_t>(below(random, 2));
    const std::int64_t at = below(random, 900);
    if (below(random, 3) == 0) built.op(at, below(random, 60), "aten::add", thread);
    if (below(random, 4) == 0) add_sync(random, built, at, thread);
    const std::uint32_t launch = built.call(at, below(random, 8), "cudaLaunchKernel", thread);
    const auto stream = static_cast<std::int32_t>(7 + below(random, 3));
    const std::int64_t start = at + below(random, 80) - (clocks_agree ? 0 : 20);
    built.compute({start, below(random, 40), stream, launch});
  }
  return built;
}

TEST(CriticalPath, OfRandomStepsHoldsWhatEveryPathDoes) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    StepBuilder built = random_step(random, seed % 2 == 0);
    const BuiltStep step(built);
    const auto& nodes = step.graph.nodes();
    for (std::size_t i = 1; i < nodes.size(); ++i) ASSERT_LE(nodes[i - 1].at_ns, nodes[i].at_ns);
    for (const PathEdge& edge : step.graph.edges()) {
      ASSERT_LT(edge.from, edge.to);
      ASSERT_GE(edge.weight_ns, 0);
    }
    const CriticalPath& path = step.path;
    EXPECT_EQ(path.length_ns, longest_by_relaxing(nodes.size(), step.graph.edges())) << seed;
    EXPECT_EQ(path.length_ns, std::reduce(path.bound_ns.begin(), path.bound_ns.end()));
    EXPECT_LE(path.length_ns, nodes.back().at_ns - nodes.front().at_ns);
    std::int64_t named_ns = 0;
    for (const PathContributor& of : path.contributors) named_ns += of.time_ns;
    EXPECT_EQ(path.length_ns, named_ns);
    for (const PathEvent& event : step.graph.events()) {
      if (event.on_device) {
        EXPECT_GE(path.length_ns, event.end_ns - event.start_ns) << seed;
      }
    }
  }
}

// HTA's way to say it: a length of 1 after the launch and of 0 after the start.
TEST(LaunchQueues, AreEmptyWhereHtaSaysSo) {
  std::size_t empty = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    StepBuilder built;
    std::int64_t launched = 0;
    std::int64_t started = 0;
    for (int i = 0; i < 20; ++i) {
      launched += 2 + 2 * below(random, 10);
      started = (std::max(started + 1, launched) | 1) + 2 * below(random, 12);  // no launch is then
      built.compute({started, 1, 7, built.call(launched, 1)});
    }
    const CycleTrace cycle = built.build();
    const LaunchQueues queues(cycle);
    const std::vector<StreamQueue> lengths = queue_length(cycle);
    const auto length_at = [&](std::int64_t time_ns) {
      return std::ranges::find(lengths[0].changes, time_ns, &QueueChange::at_ns)->length;
    };
    for (std::uint32_t row = 0; row < cycle.device.size(); ++row) {
      const DeviceActivity& activity = cycle.device[row];
      const std::int64_t launch_ns = cycle.launches[activity.launch].start_ns;
      const bool expected = length_at(launch_ns) == 1 && length_at(activity.start_ns) == 0;
      EXPECT_EQ(queues.was_empty(row), expected) << seed << ", " << row;
      if (expected) ++empty;
    }
  }
  EXPECT_GT(empty, 100U);
}

}  // namespace trainwatch::critical_path_random_test
