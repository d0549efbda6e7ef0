#include "pipeline/cycle/device_edges.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <optional>
#include <vector>

namespace trainwatch {
namespace {

constexpr std::uint32_t kNoEvent = std::numeric_limits<std::uint32_t>::max();

// The ends of the step's work on each stream.
class WorkEnds {
 public:
  WorkEnds(const CycleTrace& cycle, const StepEvents& events) {
    for (std::uint32_t i = events.hosts; i < events.events.size(); ++i) {
      const PathEvent& event = events.events[i];
      ends_.push_back({cycle.device[event.row].stream, event.end_ns, i});
    }
    std::ranges::sort(ends_);
  }

  // The event that ended last on the stream until then, of those of that time the last before
  // `event`. kNoEvent: none did.
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

class WorkEdges {
 public:
  WorkEdges(const StepEventIndex& index, const StepEvents& events, const LaunchQueues& queues,
            const WorkWaits& waits, PathGraph& graph)
      : index_(index),
        events_(events),
        queues_(queues),
        waits_(waits),
        graph_(graph),
        ends_(index.cycle(), events) {}

  void add(std::uint32_t event) {
    const PathEvent& work = events_.events[event];
    const DeviceRow& row = index_.cycle().device[work.row];
    graph_.add(EdgeKind::work, graph_.start_of(event), graph_.end_of(event), event);
    const std::optional<std::int64_t> waited_until_ns = add_waits(event);
    const std::uint32_t before = ends_.last_until(row.stream, work.start_ns, event);
    const auto ended_before = [&](std::int64_t time_ns) {
      return !waited_until_ns || *waited_until_ns < time_ns;
    };
    const std::int64_t launched_ns = index_.cycle().launches[row.launch].start_ns;
    if (queues_.was_empty(work.row) && ended_before(launched_ns) &&
        (before == kNoEvent || events_.events[before].end_ns < launched_ns)) {
      add_launch(event, row.launch);
    } else if (before != kNoEvent && ended_before(events_.events[before].end_ns) &&
               work.start_ns - events_.events[before].end_ns < kLongestKernelDelayNs) {
      graph_.add(EdgeKind::kernel_delay, graph_.end_of(before), graph_.start_of(event), before);
    }
  }

 private:
  void add_launch(std::uint32_t event, std::uint32_t launch) {
    const auto call = events_.of_host(index_.host_of_launch(launch));
    if (!call) return;
    graph_.add(EdgeKind::launch_delay, graph_.start_of(*call), graph_.start_of(event), event);
  }

  // When the last of what the work waited for ended.
  std::optional<std::int64_t> add_waits(std::uint32_t event) {
    std::optional<std::int64_t> until_ns;
    for (const WorkWait& wait : waits_.of_work(events_.events[event].row)) {
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
  const WorkWaits& waits_;
  PathGraph& graph_;
  WorkEnds ends_;
};

}  // namespace

void add_work_edges(const StepEventIndex& index, const StepEvents& events,
                    const LaunchQueues& queues, const WorkWaits& waits, PathGraph& graph) {
  WorkEdges edges(index, events, queues, waits, graph);
  for (std::uint32_t i = events.hosts; i < events.events.size(); ++i) edges.add(i);
}

void add_sync_edges(const StepRow& step, const StepEventIndex& index, const StepEvents& events,
                    const WorkWaits& waits, PathGraph& graph) {
  const auto calls = waits.of_calls(step.start_ns, step.end_ns());
  if (calls.empty()) return;
  const WorkEnds ends(index.cycle(), events);
  const std::vector<std::int32_t> streams = ends.streams();
  for (const CallWait& wait : calls) {
    const auto call = events.of_host(wait.call);
    if (!call) continue;
    const auto link = [&](std::uint32_t work) {
      graph.add_without_weight(EdgeKind::sync, graph.end_of(work), graph.end_of(*call), *call);
    };
    if (wait.waited_for != kNoRow) {
      if (const auto work = events.of_device(wait.waited_for)) link(*work);
      continue;
    }
    for (const std::int32_t stream : streams) {
      if (wait.stream != kNoStream && wait.stream != stream) continue;
      const std::uint32_t work = ends.last_until(stream, events.events[*call].end_ns, kNoEvent);
      if (work != kNoEvent) link(work);
    }
  }
}

}  // namespace trainwatch
