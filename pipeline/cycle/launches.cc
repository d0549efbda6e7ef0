#include "pipeline/cycle/launches.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

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

std::size_t rows_of_stream(const CycleTrace& cycle, DeviceRows rows, std::int32_t stream) {
  const auto stream_of = [&](std::uint32_t index) { return cycle.device[index].stream; };
  const auto from = std::ranges::lower_bound(rows, stream, {}, stream_of);
  const auto to = std::ranges::upper_bound(from, rows.end(), stream, {}, stream_of);
  return static_cast<std::size_t>(to - from);
}

// Turns steps up and down into lengths.
void accumulate(StreamQueue& queue) {
  std::sort(queue.changes.begin(), queue.changes.end(),
            [](const QueueChange& a, const QueueChange& b) {
              return std::tuple(a.at_ns, -a.length) < std::tuple(b.at_ns, -b.length);
            });
  std::int64_t length = 0;
  for (QueueChange& change : queue.changes) change.length = length += change.length;
}

}  // namespace

std::vector<StreamQueue> queue_length(const CycleTrace& cycle, DeviceRows rows) {
  const std::vector<bool> queued = queued_names(cycle.names);
  std::vector<StreamQueue> found;
  for (const std::uint32_t index : rows) {
    const DeviceActivity& row = cycle.device[index];
    if (row.launch == kNoRow || row.kind == DeviceKind::sync) continue;
    const LaunchRow& launch = cycle.launches[row.launch];
    if (!queued[static_cast<std::size_t>(launch.name)]) continue;
    if (found.empty() || found.back().stream != row.stream) {
      found.push_back({row.stream, {}});
      found.back().changes.reserve(2 * rows_of_stream(cycle, rows, row.stream));
    }
    found.back().changes.push_back({launch.start_ns, 1});
    found.back().changes.push_back({row.start_ns, -1});
  }
  for (StreamQueue& queue : found) accumulate(queue);
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
