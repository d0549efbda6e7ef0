// SPDX-License-Identifier: Apache-2.0
// The critical path of a step: the longest chain of dependent events. Shortening anything else does
// not shorten the step. And what the path consists of.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/analysis/hta/activity_dependencies.h"
#include "pipeline/analysis/hta/critical_path_graph.h"
#include "pipeline/analysis/hta/step_events.h"

namespace trainwatch {

// The edges of a step's graph. On the host: what a thread did one after the other, and calls that
// waited for each other's lock. On the device: activities, why each began when it did, and what
// waited for it (critical_path_edges.cc).

// Calls that take the lock of CUDA's runtime. One that is alone is an edge from its start to its
// end; of those that overlap, the first to end had the lock first, the others began to wait for
// that, and pass it on by their ends. O(nodes).
void add_lock_edges(const StepEventIndex& index, PathGraph& graph);

// Along each thread from each start or end to the next: while something runs with what passes,
// between what is outermost without weight. The end of a call that waits for the device has none
// either: it is what was waited for that took the time. What begins inside something else and ends
// after it is not nested, but in the order of time all the same. O(nodes).
void add_call_stack_edges(const StepEventIndex& index, PathGraph& graph);

// A longer gap on a stream has another reason than the previous activity.
inline constexpr std::int64_t kLongestKernelDelayNs = 1'500'000;

// An activity begins
//   after its launch, when that found the queue empty and everything before it ended;
//   else after the previous activity on its stream, when that ended less than 1.5 ms before;
//   and after what it waits for by an event, without weight.
// The previous activity is the last that ended on the stream before it began: an overlapping one is
// no reason for what it overlaps. O(events log n).
void add_activity_edges(const StepEventIndex& index, const StepEvents& events,
                        const LaunchQueues& queues, const ActivityWaits& waits, PathGraph& graph);

// From an activity to the end of a call that waited for it.
void add_sync_edges(const StepRow& step, const StepEventIndex& index, const StepEvents& events,
                    const ActivityWaits& waits, PathGraph& graph);

// The edges of the longest path among nodes 0 to `nodes` - 1, in its order. Every edge leads from a
// lower to a higher node. Of paths of one length, the one that ends first, by the edges that stand
// first. O(nodes + edges).
std::vector<std::uint32_t> longest_path(std::size_t nodes, std::span<const PathEdge> edges);

// Time on the path that is put down to a name.
struct PathContributor {
  NameId name{};
  BoundBy bound{};
  bool on_device = false;
  std::int64_t time_ns = 0;
  std::uint64_t count = 0;  // events
};

struct CriticalPath {
  std::int64_t length_ns = 0;  // the sum of bound_ns
  std::array<std::int64_t, static_cast<std::size_t>(BoundBy::count_)> bound_ns{};
  std::vector<PathContributor> contributors;  // the longest first
};

CriticalPath critical_path(const PathGraph& graph, const NameTable& names);

// The graphs of the steps of a cycle. What is kept for all of them is O(rows of the cycle).
class StepGraphs {
 public:
  // The cycle must outlive the object.
  explicit StepGraphs(const SelectedCycle& selected);

  // O(events of the step log n).
  PathGraph of(const StepRow& step) const;

 private:
  StepEventIndex index_;
  LaunchQueues queues_;
  ActivityWaits waits_;
};

}  // namespace trainwatch
