// SPDX-License-Identifier: Apache-2.0
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

LaunchedActivities::LaunchedActivities(const CycleTrace& cycle, DeviceRows rows)
    : cycle_(cycle), of_launch_(cycle.launches.size(), kNone) {
  for (const std::uint32_t index : rows) {
    const DeviceActivity& row = cycle.device[index];
    if (row.launch != kNoLaunch && row.kind != DeviceKind::sync) add(row.launch, index);
  }
}

void LaunchedActivities::add(std::uint32_t launch, std::uint32_t index) {
  std::uint32_t& of = of_launch_[launch];
  if (of == kNone) {
    of = index;
    return;
  }
  if ((of & kSeveral) == 0) {
    several_.push_back(of_row(launch, of));
    of = kSeveral | static_cast<std::uint32_t>(several_.size() - 1);
  }
  const DeviceActivity& row = cycle_.device[index];
  LaunchedActivity& activity = several_[of & ~kSeveral];
  activity.first_start_ns = std::min(activity.first_start_ns, row.start_ns);
  activity.device_ns += row.duration_ns;
  ++activity.rows;
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
  const auto stream_of = [&](std::uint32_t index) { return cycle.stream_of(cycle.device[index]); };
  const auto end = std::ranges::upper_bound(rows, stream_of(rows.front()), {}, stream_of);
  return rows.first(static_cast<std::size_t>(end - rows.begin()));
}

}  // namespace

QueueSweep::QueueSweep(const CycleTrace& cycle, DeviceRows rows)
    : cycle_(cycle), rows_(rows), queued_(queued_names(cycle.names)) {}

bool QueueSweep::is_queued(std::uint32_t index) const {
  const DeviceActivity& row = cycle_.device[index];
  return row.launch != kNoLaunch && row.kind != DeviceKind::sync &&
         queued_[static_cast<std::size_t>(cycle_.launches[row.launch].name)];
}

bool QueueSweep::next_stream() {
  launched_.clear();
  while (launched_.empty() && !rows_.empty()) {
    to_start_ = first_stream(cycle_, rows_);
    rows_ = rows_.subspan(to_start_.size());
    launched_.reserve(to_start_.size());
    for (const std::uint32_t index : to_start_) {
      if (is_queued(index)) launched_.push_back(cycle_.device[index].launch);
    }
  }
  if (launched_.empty()) return false;
  // They usually are: a stream runs its activity in launch order.
  const auto start_ns = [this](std::uint32_t launch) { return cycle_.launches[launch].start_ns; };
  if (!std::ranges::is_sorted(launched_, {}, start_ns)) std::ranges::sort(launched_, {}, start_ns);
  stream_ = cycle_.stream_of(cycle_.device[to_start_.front()]);
  next_launch_ = 0;
  length_ = 0;
  skip_others();
  return true;
}

void QueueSweep::skip_others() {
  while (!to_start_.empty() && !is_queued(to_start_.front())) to_start_ = to_start_.subspan(1);
}

bool QueueSweep::next(QueueChange& change) {
  const bool launches = next_launch_ < launched_.size();
  if (to_start_.empty() && !launches) return false;
  const auto start_ns = [this] { return cycle_.device[to_start_.front()].start_ns; };
  const auto launched_ns = [this] { return cycle_.launches[launched_[next_launch_]].start_ns; };
  if (launches && (to_start_.empty() || launched_ns() <= start_ns())) {
    change = {launched_ns(), ++length_};
    ++next_launch_;
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
