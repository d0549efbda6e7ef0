// The critical path of a step: of all that had to come one after the other the longest, which
// shortening anything else does not shorten. And what it is made of.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/analysis/hta/critical_path_edges.h"
#include "pipeline/analysis/hta/critical_path_graph.h"

namespace trainwatch {

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
  WorkWaits waits_;
};

}  // namespace trainwatch
