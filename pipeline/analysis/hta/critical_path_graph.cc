// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/hta/critical_path_graph.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace trainwatch {
namespace {

// What happens at the same time: ends before starts, and the device before the host where the host
// may have waited for it. An activity without length starts and ends in one place.
enum class Turn : std::uint8_t { device_end, device_moment, host_end, host_start, device_start };

Turn turn_of(const PathEvent& event, bool is_start) {
  if (!event.on_device) return is_start ? Turn::host_start : Turn::host_end;
  if (event.start_ns == event.end_ns) return Turn::device_moment;
  return is_start ? Turn::device_start : Turn::device_end;
}

struct Placed {
  PathGraph::Endpoint endpoint;
  Turn turn{};
  std::uint64_t rank = 0;  // within the turn
};

Placed placed(const std::vector<PathEvent>& events, std::uint32_t index, bool is_start) {
  const PathEvent& event = events[index];
  Placed found{{is_start ? event.start_ns : event.end_ns, index, is_start}};
  found.turn = turn_of(event, is_start);
  found.rank = 2 * std::uint64_t{index} + (is_start ? 0 : 1);
  if (found.turn == Turn::host_end) found.rank = ~found.rank;  // the inner one ends first
  return found;
}

}  // namespace

PathGraph::PathGraph(std::vector<PathEvent> events)
    : events_(std::move(events)), starts_(events_.size()), ends_(events_.size()) {
  std::vector<Placed> order;
  order.reserve(2 * events_.size());
  for (std::uint32_t i = 0; i < events_.size(); ++i) {
    order.push_back(placed(events_, i, true));
    order.push_back(placed(events_, i, false));
  }
  std::sort(order.begin(), order.end(), [](const Placed& a, const Placed& b) {
    return std::tuple(a.endpoint.at_ns, a.turn, a.rank) <
           std::tuple(b.endpoint.at_ns, b.turn, b.rank);
  });
  nodes_.reserve(order.size());
  for (const Placed& node : order) {
    const auto number = static_cast<PathNode>(nodes_.size());
    (node.endpoint.is_start ? starts_ : ends_)[node.endpoint.event] = number;
    nodes_.push_back(node.endpoint);
  }
}

void PathGraph::add(EdgeKind kind, PathNode from, PathNode to, std::uint32_t owner) {
  add(PathEdge{from, to, nodes_[to].at_ns - nodes_[from].at_ns, owner, kind});
}

void PathGraph::add_without_weight(EdgeKind kind, PathNode from, PathNode to, std::uint32_t owner) {
  add(PathEdge{from, to, 0, owner, kind});
}

void PathGraph::add(const PathEdge& edge) {
  if (edge.from < edge.to) {
    edges_.push_back(edge);
  } else {
    ++left_out_;
  }
}

}  // namespace trainwatch
