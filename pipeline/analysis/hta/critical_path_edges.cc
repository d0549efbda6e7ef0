// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <compare>
#include <limits>
#include <optional>
#include <vector>

#include "pipeline/analysis/hta/critical_path.h"

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
  // Two consecutive nodes of a thread that add_lock_edges() connects.
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
    graph.add_without_weight(EdgeKind::run, from, to, owner);
  } else {
    graph.add(EdgeKind::run, from, to, owner);
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
  // Nearly always the innermost event.
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

namespace {

constexpr std::uint32_t kNoEvent = std::numeric_limits<std::uint32_t>::max();

// The ends of the step's activities on each stream.
class ActivityEnds {
 public:
  ActivityEnds(const CycleTrace& cycle, const StepEvents& events) {
    for (std::uint32_t i = events.hosts; i < events.events.size(); ++i) {
      const PathEvent& event = events.events[i];
      ends_.push_back({cycle.stream_of(cycle.device[event.row]), event.end_ns, i});
    }
    std::ranges::sort(ends_);
  }

  // The event that ended last on the stream by that time; of those that ended just then, the last
  // before `event`. kNoEvent: none did.
  std::uint32_t last_until(std::int32_t stream, std::int64_t time_ns, std::uint32_t event) const {
    const auto after = std::ranges::lower_bound(ends_, End{stream, time_ns, event});
    if (after == ends_.begin() || std::prev(after)->stream != stream) return kNoEvent;
    return std::prev(after)->event;
  }
  std::vector<std::int32_t> streams() const {
    std::vector<std::int32_t> found;
    for (const End& end : ends_) {
      if (found.empty() || found.back() != end.stream) found.push_back(end.stream);
    }
    return found;
  }

 private:
  struct End {
    std::int32_t stream = 0;
    std::int64_t at_ns = 0;
    std::uint32_t event = 0;

    auto operator<=>(const End&) const = default;
  };

  std::vector<End> ends_;
};

class ActivityEdges {
 public:
  ActivityEdges(const StepEventIndex& index, const StepEvents& events, const LaunchQueues& queues,
                const ActivityWaits& waits, PathGraph& graph)
      : index_(index),
        events_(events),
        queues_(queues),
        waits_(waits),
        graph_(graph),
        ends_(index.cycle(), events) {}

  void add(std::uint32_t event) {
    const PathEvent& activity = events_.events[event];
    const DeviceActivity& row = index_.cycle().device[activity.row];
    graph_.add(EdgeKind::run, graph_.start_of(event), graph_.end_of(event), event);
    const std::optional<std::int64_t> waited_until_ns = add_waits(event);
    const std::int32_t stream = index_.cycle().stream_of(row);
    const std::uint32_t before = ends_.last_until(stream, activity.start_ns, event);
    const auto ended_before = [&](std::int64_t time_ns) {
      return !waited_until_ns || *waited_until_ns < time_ns;
    };
    const std::int64_t launched_ns = index_.cycle().launches[row.launch].start_ns;
    if (queues_.was_empty(activity.row) && ended_before(launched_ns) &&
        (before == kNoEvent || events_.events[before].end_ns < launched_ns)) {
      add_launch(event, row.launch);
    } else if (before != kNoEvent && ended_before(events_.events[before].end_ns) &&
               activity.start_ns - events_.events[before].end_ns < kLongestKernelDelayNs) {
      graph_.add(EdgeKind::kernel_delay, graph_.end_of(before), graph_.start_of(event), before);
    }
  }

 private:
  void add_launch(std::uint32_t event, std::uint32_t launch) {
    const auto call = events_.of_host(index_.host_of_launch(launch));
    if (!call) return;
    graph_.add(EdgeKind::launch_delay, graph_.start_of(*call), graph_.start_of(event), event);
  }

  // When the last thing that the activity waited for ended.
  std::optional<std::int64_t> add_waits(std::uint32_t event) {
    std::optional<std::int64_t> until_ns;
    for (const ActivityWait& wait : waits_.of_activity(events_.events[event].row)) {
      const auto source = events_.of_device(wait.waited_for);
      if (!source) continue;
      graph_.add_without_weight(EdgeKind::sync, graph_.end_of(*source), graph_.start_of(event),
                                event);
      const std::int64_t end_ns = events_.events[*source].end_ns;
      until_ns = std::max(until_ns.value_or(end_ns), end_ns);
    }
    return until_ns;
  }

  const StepEventIndex& index_;
  const StepEvents& events_;
  const LaunchQueues& queues_;
  const ActivityWaits& waits_;
  PathGraph& graph_;
  ActivityEnds ends_;
};

}  // namespace

void add_activity_edges(const StepEventIndex& index, const StepEvents& events,
                        const LaunchQueues& queues, const ActivityWaits& waits, PathGraph& graph) {
  ActivityEdges edges(index, events, queues, waits, graph);
  for (std::uint32_t i = events.hosts; i < events.events.size(); ++i) edges.add(i);
}

void add_sync_edges(const StepRow& step, const StepEventIndex& index, const StepEvents& events,
                    const ActivityWaits& waits, PathGraph& graph) {
  const auto calls = waits.of_calls(step.start_ns, step.end_ns());
  if (calls.empty()) return;
  const ActivityEnds ends(index.cycle(), events);
  const std::vector<std::int32_t> streams = ends.streams();
  for (const CallWait& wait : calls) {
    const auto call = events.of_host(wait.call);
    if (!call) continue;
    const auto link = [&](std::uint32_t activity) {
      graph.add_without_weight(EdgeKind::sync, graph.end_of(activity), graph.end_of(*call), *call);
    };
    if (wait.waited_for != kNoRow) {
      if (const auto activity = events.of_device(wait.waited_for)) link(*activity);
      continue;
    }
    for (const std::int32_t stream : streams) {
      if (wait.stream != kNoStream && wait.stream != stream) continue;
      const std::uint32_t activity = ends.last_until(stream, events.events[*call].end_ns, kNoEvent);
      if (activity != kNoEvent) link(activity);
    }
  }
}

}  // namespace trainwatch
