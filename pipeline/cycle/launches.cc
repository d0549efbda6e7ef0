#include "pipeline/cycle/launches.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

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

}  // namespace

QueueSweep::QueueSweep(const CycleTrace& cycle, DeviceRows rows)
    : cycle_(cycle), rows_(rows), queued_(queued_names(cycle.names)) {}

bool QueueSweep::is_queued(std::uint32_t index) const {
  const DeviceActivity& row = cycle_.device[index];
  return row.launch != kNoRow && row.kind != DeviceKind::sync &&
         queued_[static_cast<std::size_t>(cycle_.launches[row.launch].name)];
}

bool QueueSweep::next_stream() {
  launched_ns_.clear();
  while (launched_ns_.empty() && !rows_.empty()) {
    to_start_ = first_stream(cycle_, rows_);
    rows_ = rows_.subspan(to_start_.size());
    for (const std::uint32_t index : to_start_) {
      if (!is_queued(index)) continue;
      launched_ns_.push_back(cycle_.launches[cycle_.device[index].launch].start_ns);
    }
  }
  if (launched_ns_.empty()) return false;
  // They usually are: a stream runs its activity in launch order.
  if (!std::ranges::is_sorted(launched_ns_)) std::ranges::sort(launched_ns_);
  stream_ = cycle_.device[to_start_.front()].stream;
  next_launch_ = 0;
  length_ = 0;
  skip_others();
  return true;
}

void QueueSweep::skip_others() {
  while (!to_start_.empty() && !is_queued(to_start_.front())) to_start_ = to_start_.subspan(1);
}

bool QueueSweep::next(QueueChange& change) {
  const bool launches = next_launch_ < launched_ns_.size();
  if (to_start_.empty() && !launches) return false;
  const auto start_ns = [this] { return cycle_.device[to_start_.front()].start_ns; };
  if (launches && (to_start_.empty() || launched_ns_[next_launch_] <= start_ns())) {
    change = {launched_ns_[next_launch_++], ++length_};
    return true;
  }
  change = {start_ns(), --length_};
  to_start_ = to_start_.subspan(1);
  skip_others();
  return true;
}

QueueSummary summarize(QueueSweep& sweep) {
  QueueSummary found;
  std::map<std::int64_t, std::uint64_t> lengths;  // far fewer than changes
  double area = 0;
  QueueChange before;
  for (QueueChange change; sweep.next(change); before = change) {
    const std::int64_t held_ns = lengths.empty() ? 0 : change.at_ns - before.at_ns;
    ++lengths[change.length];
    area += static_cast<double>(before.length) * static_cast<double>(held_ns);
    found.duration_ns += held_ns;
    if (before.length >= kFullQueue) found.full_ns += held_ns;
  }
  found.lengths = describe(lengths);
  found.mean_over_time = found.duration_ns == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                : area / static_cast<double>(found.duration_ns);
  return found;
}

}  // namespace trainwatch
