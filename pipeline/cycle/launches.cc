#include "pipeline/cycle/launches.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "pipeline/cycle/merge_runs.h"

namespace trainwatch {
namespace {

using namespace std::string_view_literals;

constexpr std::array kPlain = {"cudaLaunchKernel"sv, "cudaLaunchKernelExC"sv, "cudaMemcpyAsync"sv,
                               "cudaMemsetAsync"sv,
                               "runFunction - job_prep_and_submit_for_execution"sv};
constexpr std::array kQueuedToo = {
    "cuLaunchKernel"sv, "cuLaunchKernelEx"sv, "hipLaunchKernel"sv,     "hipExtModuleLaunchKernel"sv,
    "hipMemsetAsync"sv, "hipMemcpyAsync"sv,   "hipMemcpyWithStream"sv, "cudaGraphLaunch"sv,
    "cuGraphLaunch"sv,  "hipGraphLaunch"sv};

}  // namespace

std::vector<LaunchedActivity> launched_activities(const CycleTrace& cycle, DeviceRows rows) {
  std::vector<LaunchedActivity> all(cycle.launches.size());
  for (const std::uint32_t index : rows) {
    const DeviceActivity& row = cycle.device[index];
    if (row.launch == kNoRow || row.kind == DeviceKind::sync) continue;
    LaunchedActivity& activity = all[row.launch];
    activity.launch = row.launch;
    activity.first_start_ns =
        activity.rows == 0 ? row.start_ns : std::min(activity.first_start_ns, row.start_ns);
    activity.device_ns += row.duration_ns;
    ++activity.rows;
  }
  std::erase_if(all, [](const LaunchedActivity& activity) { return activity.rows == 0; });
  return all;
}

bool is_plain_launch(std::string_view name) {
  return std::ranges::find(kPlain, name) != kPlain.end();
}

bool is_queued_launch(std::string_view name) {
  return is_plain_launch(name) || std::ranges::find(kQueuedToo, name) != kQueuedToo.end();
}

namespace {

std::vector<bool> queued_names(const NameTable& names) {
  std::vector<bool> queued(names.size());
  for (std::size_t i = 0; i < queued.size(); ++i)
    queued[i] = is_queued_launch(names.text(static_cast<NameId>(i)));
  return queued;
}

// The rows of the stream of the first one.
DeviceRows first_stream(const CycleTrace& cycle, DeviceRows rows) {
  const auto stream_of = [&](std::uint32_t index) { return cycle.device[index].stream; };
  const auto end = std::ranges::upper_bound(rows, stream_of(rows.front()), {}, stream_of);
  return rows.first(static_cast<std::size_t>(end - rows.begin()));
}

// Turns steps up, followed by steps down, into lengths. A stream begins its activity in the order
// of the launches, so that both mostly ascend.
void accumulate(StreamQueue& queue) {
  merge_runs(queue.changes, [](const QueueChange& a, const QueueChange& b) {
    if (a.at_ns != b.at_ns) return a.at_ns < b.at_ns;
    return a.length > b.length;
  });
  std::int64_t length = 0;
  for (QueueChange& change : queue.changes) change.length = length += change.length;
}

}  // namespace

std::vector<StreamQueue> queue_length(const CycleTrace& cycle, DeviceRows rows) {
  const std::vector<bool> queued = queued_names(cycle.names);
  const auto is_queued = [&](std::uint32_t index) {
    const DeviceActivity& row = cycle.device[index];
    return row.launch != kNoRow && row.kind != DeviceKind::sync &&
           queued[static_cast<std::size_t>(cycle.launches[row.launch].name)];
  };
  std::vector<StreamQueue> found;
  while (!rows.empty()) {
    const DeviceRows own = first_stream(cycle, rows);
    rows = rows.subspan(own.size());
    StreamQueue queue{cycle.device[own.front()].stream, {}};
    queue.changes.reserve(2 * own.size());
    for (const std::uint32_t index : own) {
      if (!is_queued(index)) continue;
      queue.changes.push_back({cycle.launches[cycle.device[index].launch].start_ns, 1});
    }
    if (queue.changes.empty()) continue;
    for (const std::uint32_t index : own) {
      if (is_queued(index)) queue.changes.push_back({cycle.device[index].start_ns, -1});
    }
    accumulate(queue);
    found.push_back(std::move(queue));
  }
  return found;
}

QueueSummary summarize(const StreamQueue& queue) {
  QueueSummary found;
  std::map<std::int64_t, std::uint64_t> lengths;  // far fewer than changes
  double area = 0;
  for (std::size_t i = 0; i < queue.changes.size(); ++i) {
    const QueueChange& change = queue.changes[i];
    ++lengths[change.length];
    if (i + 1 == queue.changes.size()) break;
    const std::int64_t held_ns = queue.changes[i + 1].at_ns - change.at_ns;
    area += static_cast<double>(change.length) * static_cast<double>(held_ns);
    found.duration_ns += held_ns;
    if (change.length >= kFullQueue) found.full_ns += held_ns;
  }
  found.lengths = describe(lengths);
  found.mean_over_time = found.duration_ns == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                : area / static_cast<double>(found.duration_ns);
  return found;
}

}  // namespace trainwatch
