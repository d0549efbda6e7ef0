#include "pipeline/cycle/work_waits.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>

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

// Work by its launch.
class LaunchOrder {
 public:
  explicit LaunchOrder(const StepEventIndex& index) {
    const CycleTrace& cycle = index.cycle();
    for (std::uint32_t i = 0; i < cycle.device.size(); ++i) {
      const DeviceRow& row = cycle.device[i];
      if (row.launch == kNoRow || row.kind == DeviceKind::sync) continue;
      const std::uint32_t call = index.host_of_launch(row.launch);
      const std::uint32_t thread = call == kNoRow ? kNoRow : cycle.host[call].thread;
      by_stream_.push_back({row.stream, thread, cycle.launches[row.launch].start_ns, i});
    }
    by_thread_ = by_stream_;
    std::ranges::sort(by_stream_, {}, stream_key);
    std::ranges::sort(by_thread_, {}, thread_key);
  }

  // kNoRow: none.
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

WorkWaits::WorkWaits(const StepEventIndex& index) {
  const CycleTrace& cycle = index.cycle();
  if (cycle.syncs.empty()) return;
  const LaunchOrder order(index);
  for (const SyncRow& sync : cycle.syncs) {
    const std::uint32_t call = index.host_of_launch(sync.launch);
    if (call == kNoRow) continue;
    const HostRow& waiting = cycle.host[call];
    const SyncKind kind = sync_kind(cycle.names.text(sync.name));
    const bool of_event = kind == SyncKind::event || kind == SyncKind::stream_waits;
    std::uint32_t waited_for = kNoRow;
    if (of_event && sync.event_record < cycle.launches.size())
      waited_for = order.last_before(sync.waits_for, cycle.launches[sync.event_record].start_ns);
    if (of_event && waited_for == kNoRow) continue;
    if (kind == SyncKind::stream_waits) {
      const std::uint32_t work = order.next_after(sync.stream, waiting.thread, waiting.start_ns);
      if (work != kNoRow) of_work_.push_back({work, waited_for});
    } else if (of_event || kind == SyncKind::context) {
      of_calls_.push_back({waiting.start_ns, call, waited_for, kNoStream});
    } else if (kind == SyncKind::stream && sync.stream != kNoStream) {
      of_calls_.push_back({waiting.start_ns, call, kNoRow, sync.stream});
    }
  }
  std::ranges::stable_sort(of_work_, {}, &WorkWait::work);
  std::ranges::stable_sort(of_calls_, {}, &CallWait::start_ns);
}

std::span<const WorkWait> WorkWaits::of_work(std::uint32_t row) const {
  return std::ranges::equal_range(of_work_, row, {}, &WorkWait::work);
}

std::span<const CallWait> WorkWaits::of_calls(std::int64_t from_ns, std::int64_t to_ns) const {
  const auto from = std::ranges::lower_bound(of_calls_, from_ns, {}, &CallWait::start_ns);
  const auto to = std::ranges::upper_bound(from, of_calls_.end(), to_ns, {}, &CallWait::start_ns);
  return {from, to};
}

}  // namespace trainwatch
