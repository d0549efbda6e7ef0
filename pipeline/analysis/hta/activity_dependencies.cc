// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/hta/activity_dependencies.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>

#include "pipeline/cycle/launches.h"

namespace trainwatch {
namespace {

enum class SyncKind : std::uint8_t { stream, context, event, stream_waits, other };

SyncKind sync_kind(std::string_view name) {
  if (name == "Stream Sync") return SyncKind::stream;
  if (name == "Context Sync") return SyncKind::context;
  if (name == "Event Sync") return SyncKind::event;
  return name == "Stream Wait Event" ? SyncKind::stream_waits : SyncKind::other;
}

struct Launched {
  std::int32_t stream = 0;
  std::uint32_t thread = 0;
  std::int64_t at_ns = 0;
  std::uint32_t row = 0;
};

// Activities by launch.
class LaunchOrder {
 public:
  explicit LaunchOrder(const StepEventIndex& index) {
    const CycleTrace& cycle = index.cycle();
    for (std::uint32_t i = 0; i < cycle.device.size(); ++i) {
      const DeviceActivity& row = cycle.device[i];
      if (row.launch == kNoLaunch || row.kind == DeviceKind::sync) continue;
      const std::uint32_t call = index.host_of_launch(row.launch);
      const std::uint32_t thread = call == kNoRow ? kNoRow : cycle.host[call].thread;
      by_stream_.push_back({cycle.stream_of(row), thread, cycle.launches[row.launch].start_ns, i});
    }
    by_thread_ = by_stream_;
    std::ranges::sort(by_stream_, {}, stream_key);
    std::ranges::sort(by_thread_, {}, thread_key);
  }

  // The last row of the stream that was launched before `time_ns`; kNoRow: none was.
  std::uint32_t last_before(std::int32_t stream, std::int64_t time_ns) const {
    const auto after =
        std::ranges::lower_bound(by_stream_, std::tuple(stream, time_ns, 0U), {}, stream_key);
    if (after == by_stream_.begin() || std::prev(after)->stream != stream) return kNoRow;
    return std::prev(after)->row;
  }
  std::uint32_t next_after(std::int32_t stream, std::uint32_t thread, std::int64_t time_ns) const {
    const auto found = std::ranges::upper_bound(
        by_thread_, std::tuple(stream, thread, time_ns, kNoRow), {}, thread_key);
    if (found == by_thread_.end() || found->stream != stream || found->thread != thread)
      return kNoRow;
    return found->row;
  }

 private:
  static std::tuple<std::int32_t, std::int64_t, std::uint32_t> stream_key(const Launched& of) {
    return {of.stream, of.at_ns, of.row};
  }
  static std::tuple<std::int32_t, std::uint32_t, std::int64_t, std::uint32_t> thread_key(
      const Launched& of) {
    return {of.stream, of.thread, of.at_ns, of.row};
  }

  std::vector<Launched> by_stream_;
  std::vector<Launched> by_thread_;
};

}  // namespace

ActivityWaits::ActivityWaits(const StepEventIndex& index) {
  const CycleTrace& cycle = index.cycle();
  if (cycle.syncs.empty()) return;
  const LaunchOrder order(index);
  for (const SyncRow& sync : cycle.syncs) {
    const std::uint32_t call = index.host_of_launch(sync.launch);
    if (call == kNoRow) continue;
    const HostEvent& waiting = cycle.host[call];
    const SyncKind kind = sync_kind(cycle.names.text(sync.name));
    const bool of_event = kind == SyncKind::event || kind == SyncKind::stream_waits;
    std::uint32_t waited_for = kNoRow;
    if (of_event && sync.event_record < cycle.launches.size())
      waited_for = order.last_before(sync.waits_for, cycle.launches[sync.event_record].start_ns);
    if (of_event && waited_for == kNoRow) continue;
    if (kind == SyncKind::stream_waits) {
      const std::uint32_t activity =
          order.next_after(sync.stream, waiting.thread, waiting.start_ns);
      if (activity != kNoRow) of_activity_.push_back({activity, waited_for});
    } else if (of_event || kind == SyncKind::context) {
      of_calls_.push_back({waiting.start_ns, call, waited_for, kNoStream});
    } else if (kind == SyncKind::stream && sync.stream != kNoStream) {
      of_calls_.push_back({waiting.start_ns, call, kNoRow, sync.stream});
    }
  }
  std::ranges::stable_sort(of_activity_, {}, &ActivityWait::row);
  std::ranges::stable_sort(of_calls_, {}, &CallWait::start_ns);
}

std::span<const ActivityWait> ActivityWaits::of_activity(std::uint32_t row) const {
  const auto from = std::ranges::lower_bound(of_activity_, row, {}, &ActivityWait::row);
  const auto to = std::ranges::upper_bound(from, of_activity_.end(), row, {}, &ActivityWait::row);
  return {from, to};
}

std::span<const CallWait> ActivityWaits::of_calls(std::int64_t from_ns, std::int64_t to_ns) const {
  const auto from = std::ranges::lower_bound(of_calls_, from_ns, {}, &CallWait::start_ns);
  const auto to = std::ranges::upper_bound(from, of_calls_.end(), to_ns, {}, &CallWait::start_ns);
  return {from, to};
}

namespace {

std::ptrdiff_t before(const std::vector<std::int64_t>& times, std::int64_t time) {
  return std::ranges::lower_bound(times, time) - times.begin();
}
std::ptrdiff_t until(const std::vector<std::int64_t>& times, std::int64_t time) {
  return std::ranges::upper_bound(times, time) - times.begin();
}

}  // namespace

LaunchQueues::LaunchQueues(const CycleTrace& cycle) : cycle_(cycle), queued_(cycle.names.size()) {
  for (std::size_t i = 0; i < queued_.size(); ++i)
    queued_[i] = is_queued_launch(cycle.names.text(static_cast<NameId>(i)));
  for (const DeviceActivity& row : cycle.device) {
    if (row.launch == kNoLaunch || row.kind == DeviceKind::sync) continue;
    const LaunchRow& launch = cycle.launches[row.launch];
    if (!queued_[static_cast<std::size_t>(launch.name)]) continue;
    const std::int32_t of = cycle.stream_of(row);
    if (streams_.empty() || streams_.back().stream != of) streams_.push_back({of, {}, {}});
    streams_.back().launched_ns.push_back(launch.start_ns);
    streams_.back().started_ns.push_back(row.start_ns);
  }
  for (Stream& stream : streams_) std::ranges::sort(stream.launched_ns);
}

bool LaunchQueues::was_empty(std::uint32_t row) const {
  const DeviceActivity& activity = cycle_.device[row];
  const LaunchRow& launch = cycle_.launches[activity.launch];
  const std::int32_t of = cycle_.stream_of(activity);
  const auto stream = std::ranges::lower_bound(streams_, of, {}, &Stream::stream);
  if (stream == streams_.end() || stream->stream != of) return false;
  if (!queued_[static_cast<std::size_t>(launch.name)]) return false;
  const std::ptrdiff_t earlier = before(stream->launched_ns, launch.start_ns);
  return earlier == before(stream->started_ns, launch.start_ns) &&
         until(stream->launched_ns, activity.start_ns) ==
             until(stream->launched_ns, launch.start_ns) &&
         until(stream->started_ns, activity.start_ns) == earlier + 1;
}

}  // namespace trainwatch
