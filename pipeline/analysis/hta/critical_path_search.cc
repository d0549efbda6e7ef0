// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <limits>
#include <tuple>

#include "pipeline/analysis/hta/critical_path.h"

namespace trainwatch {
namespace {

constexpr std::uint32_t kNoEdge = std::numeric_limits<std::uint32_t>::max();

// Edges by the node that they lead to, those of one node in the order in which they stand.
class IncomingEdges {
 public:
  IncomingEdges(std::size_t nodes, std::span<const PathEdge> edges)
      : begins_(nodes + 1), sorted_(edges.size()) {
    for (const PathEdge& edge : edges) ++begins_[edge.to + 1];
    for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
    std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (std::uint32_t i = 0; i < edges.size(); ++i) sorted_[next[edges[i].to]++] = i;
  }
  std::span<const std::uint32_t> of(PathNode node) const {
    return std::span(sorted_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }

 private:
  std::vector<std::uint32_t> begins_;
  std::vector<std::uint32_t> sorted_;
};

// Overheads do not belong to an event.
BoundBy bound_of(const PathEdge& edge, const PathGraph& graph) {
  if (edge.kind == EdgeKind::launch_delay) return BoundBy::kernel_launch_overhead;
  if (edge.kind == EdgeKind::kernel_delay) return BoundBy::kernel_kernel_overhead;
  return graph.events()[edge.owner].bound;
}

// A part of the path, of one event.
struct PathPart {
  NameId name{};
  BoundBy bound{};
  bool on_device = false;
  std::uint32_t event = 0;
  std::int64_t time_ns = 0;

  auto key() const { return std::tuple(name, bound, on_device); }
};

std::vector<PathContributor> contributors_of(std::vector<PathPart> parts, const NameTable& names) {
  std::ranges::sort(parts, {}, [](const PathPart& part) {
    return std::tuple(part.name, part.bound, part.on_device, part.event);
  });
  std::vector<PathContributor> found;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PathPart& part = parts[i];
    const bool same = i > 0 && parts[i - 1].key() == part.key();
    if (!same) found.push_back({part.name, part.bound, part.on_device, 0, 0});
    found.back().time_ns += part.time_ns;
    if (!same || parts[i - 1].event != part.event) ++found.back().count;
  }
  std::ranges::sort(found, [&](const PathContributor& a, const PathContributor& b) {
    if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
    return std::tuple(names.text(a.name), a.bound, a.on_device) <
           std::tuple(names.text(b.name), b.bound, b.on_device);
  });
  return found;
}

}  // namespace

std::vector<std::uint32_t> longest_path(std::size_t nodes, std::span<const PathEdge> edges) {
  const IncomingEdges incoming(nodes, edges);
  std::vector<std::int64_t> length(nodes);
  std::vector<std::uint32_t> last(nodes, kNoEdge);
  PathNode end = 0;
  for (PathNode node = 0; node < nodes; ++node) {
    for (const std::uint32_t index : incoming.of(node)) {
      const PathEdge& edge = edges[index];
      assert(edge.from < edge.to);  // the lengths of all nodes before this one are final
      const std::int64_t through = length[edge.from] + edge.weight_ns;
      if (through <= length[node]) continue;
      length[node] = through;
      last[node] = index;
    }
    if (length[node] > length[end]) end = node;
  }
  std::vector<std::uint32_t> path;
  if (nodes == 0) return path;
  for (PathNode node = end; last[node] != kNoEdge; node = edges[last[node]].from)
    path.push_back(last[node]);
  std::ranges::reverse(path);
  return path;
}

CriticalPath critical_path(const PathGraph& graph, const NameTable& names) {
  CriticalPath found;
  std::vector<PathPart> parts;
  for (const std::uint32_t index : longest_path(graph.nodes().size(), graph.edges())) {
    const PathEdge& edge = graph.edges()[index];
    if (edge.weight_ns == 0) continue;
    const PathEvent& owner = graph.events()[edge.owner];
    const BoundBy bound = bound_of(edge, graph);
    found.length_ns += edge.weight_ns;
    found.bound_ns[static_cast<std::size_t>(bound)] += edge.weight_ns;
    parts.push_back({owner.name, bound, owner.on_device, edge.owner, edge.weight_ns});
  }
  found.contributors = contributors_of(std::move(parts), names);
  return found;
}

StepGraphs::StepGraphs(const SelectedCycle& selected)
    : index_(selected), queues_(selected.cycle()), waits_(index_) {}

PathGraph StepGraphs::of(const StepRow& step) const {
  const StepEvents events = index_.of(step);
  PathGraph graph(events.events);
  add_lock_edges(index_, graph);
  add_call_stack_edges(index_, graph);
  add_activity_edges(index_, events, queues_, waits_, graph);
  add_sync_edges(step, index_, events, waits_, graph);
  return graph;
}

}  // namespace trainwatch
