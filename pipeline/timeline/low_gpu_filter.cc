// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/low_gpu_filter.h"

#include <algorithm>

#include "pipeline/decode/json_cursor.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

constexpr std::string_view kMark = "\"sys_metrics_bottlenecks\"";

bool is_gpu_utilization(std::string_view name) {
  return between_quotes(name).ends_with(" GPUUtilization");
}

}  // namespace

TrackId LowGpuFilter::marks_in(TrackTable& tracks) {
  return tracks.thread(tracks.phase("System metrics"), "", "\"low GPU utilization\"");
}

bool LowGpuFilter::is_sample(const TimelineEvent& event) const {
  return event.type == 'C' && event.rest.empty() && !tracks_[event.track].is_thread;
}

void LowGpuFilter::event(const TimelineEvent& event) {
  if (low_ && event.start_ns > low_ns_ + kMomentNs) mark(low_ns_);
  waiting_.push_back({event, std::string(event.name), std::string(event.rest)});
  bytes_ += sizeof(Waiting) + event.name.size() + event.rest.size();
  const bool low =
      is_sample(event) && is_gpu_utilization(event.name) && event.value < kLimitPercent;
  if (low && !low_) {
    low_ = true;
    low_ns_ = event.start_ns;
  }
  if (low_ && bytes_ > kMostBytes) mark(low_ns_);
  const auto is_over = [&](const Waiting& one) {
    return !low_ && (one.event.start_ns < event.start_ns - kMomentNs || bytes_ > kMostBytes);
  };
  while (!waiting_.empty() && is_over(waiting_.front())) pass_one();
}

void LowGpuFilter::pass_one() {
  Waiting& first = waiting_.front();
  first.event.name = first.name;
  first.event.rest = first.rest;
  to_.event(first.event);
  bytes_ -= sizeof(Waiting) + first.name.size() + first.rest.size();
  waiting_.pop_front();
}

// The mark stands in its place among the events.
void LowGpuFilter::mark(std::int64_t at_ns) {
  low_ = false;
  JsonWriter args;
  args.begin_object();
  for (const Waiting& one : waiting_) {
    if (!is_sample(one.event) || one.event.start_ns < at_ns - kMomentNs) continue;
    std::string key = std::string(between_quotes(one.name)) + ' ' + tracks_[one.event.track].writer;
    std::ranges::replace(key, ' ', '_');
    args.field(key, one.event.value);
  }
  const std::string rest = R"(, "s": "g", "args": )" + args.end_object().take();
  while (!waiting_.empty() && waiting_.front().event.start_ns < at_ns) pass_one();
  TimelineEvent instant;
  instant.start_ns = at_ns;
  instant.track = marks_;
  instant.type = 'i';
  instant.name = kMark;
  instant.rest = rest;
  to_.event(instant);
  if (bytes_ > kMostBytes) finish();
}

void LowGpuFilter::finish() {
  if (low_) mark(low_ns_);
  while (!waiting_.empty()) pass_one();
}

}  // namespace trainwatch
