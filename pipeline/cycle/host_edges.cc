#include "pipeline/cycle/host_edges.h"

#include <algorithm>
#include <optional>

namespace trainwatch {
namespace {

// The nodes of the host, with the names they stand for.
class HostNodes {
 public:
  HostNodes(const StepEventIndex& index, const PathGraph& graph) : index_(index), graph_(graph) {}

  const PathGraph::Endpoint& at(PathNode node) const { return graph_.nodes()[node]; }
  const PathEvent& event(PathNode node) const { return graph_.events()[at(node).event]; }
  bool is_on_host(PathNode node) const { return !event(node).on_device; }
  bool locks(PathNode node) const { return index_.traits(event(node).name).locks; }
  bool ends_blocking(PathNode node) const {
    return !at(node).is_start && index_.traits(event(node).name).blocks;
  }
  // Two in a row on a thread, that add_lock_edges() takes care of.
  bool share_lock(PathNode first, PathNode second) const {
    return locks(first) && locks(second) && (at(first).is_start || !at(second).is_start);
  }

 private:
  const StepEventIndex& index_;
  const PathGraph& graph_;
};

void add_work(const HostNodes& nodes, PathGraph& graph, PathNode from, PathNode to,
              std::uint32_t owner) {
  if (nodes.ends_blocking(to)) {
    graph.add_without_weight(EdgeKind::work, from, to, owner);
  } else {
    graph.add(EdgeKind::work, from, to, owner);
  }
}

class ThreadWalk {
 public:
  void visit(const HostNodes& nodes, PathNode node, PathGraph& graph) {
    const PathGraph::Endpoint endpoint = nodes.at(node);
    if (last_ && !nodes.share_lock(*last_, node)) link(nodes, node, graph);
    if (endpoint.is_start) {
      open_.push_back(endpoint.event);
    } else {
      close(endpoint.event);
    }
    last_ = node;
  }

 private:
  void link(const HostNodes& nodes, PathNode node, PathGraph& graph) const {
    if (open_.empty()) {
      graph.add_without_weight(EdgeKind::dependency, *last_, node, nodes.at(node).event);
    } else {
      add_work(nodes, graph, *last_, node, open_.back());
    }
  }
  // The innermost, nearly always.
  void close(std::uint32_t event) {
    const auto found = std::find(open_.rbegin(), open_.rend(), event);
    if (found != open_.rend()) open_.erase(std::next(found).base());
  }

  std::optional<PathNode> last_;
  std::vector<std::uint32_t> open_;
};

}  // namespace

void add_lock_edges(const StepEventIndex& index, PathGraph& graph) {
  const HostNodes nodes(index, graph);
  std::vector<PathNode> waiting;  // starts
  std::optional<PathNode> last;
  for (PathNode node = 0; node < graph.nodes().size(); ++node) {
    if (!nodes.is_on_host(node) || !nodes.locks(node)) continue;
    const PathGraph::Endpoint endpoint = nodes.at(node);
    if (endpoint.is_start) {
      waiting.push_back(node);
    } else {
      for (const PathNode start : waiting) {
        if (nodes.at(start).event == endpoint.event) {
          add_work(nodes, graph, start, node, endpoint.event);
        } else {
          graph.add_without_weight(EdgeKind::dependency, start, node, endpoint.event);
        }
      }
      waiting.clear();
      if (!nodes.at(*last).is_start)
        graph.add_without_weight(EdgeKind::dependency, *last, node, endpoint.event);
    }
    last = node;
  }
}

void add_call_stack_edges(const StepEventIndex& index, PathGraph& graph) {
  const HostNodes nodes(index, graph);
  std::vector<ThreadWalk> walks;
  for (PathNode node = 0; node < graph.nodes().size(); ++node) {
    if (!nodes.is_on_host(node)) continue;
    const std::uint32_t thread = nodes.event(node).lane;
    if (thread >= walks.size()) walks.resize(thread + 1);
    walks[thread].visit(nodes, node, graph);
  }
}

}  // namespace trainwatch
