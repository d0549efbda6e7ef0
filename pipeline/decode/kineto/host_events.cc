// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/kineto/host_events.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/kineto/cycle_rows.h"
#include "trainwatch/release_memory.h"

namespace trainwatch {
namespace {

using Member = ProfilerEvent::Member;

constexpr std::size_t kLongestThread = 256;  // bytes of its process and thread, as written

HostKind host_kind(EventCategory category) {
  switch (category) {
    case EventCategory::host:
      return HostKind::op;
    case EventCategory::call:
      return HostKind::call;
    case EventCategory::annotation:
      return HostKind::annotation;
    default:
      return HostKind::other;
  }
}

bool reaches(const Interval& earlier, const Interval& later) {
  return later.start_ns < saturating_add(earlier.end_ns, HostActivity::kShortestPauseNs);
}

}  // namespace

std::optional<RejectReason> HostEvents::take(const ProfilerEvent& event, CycleNames& names) {
  const EventCategory category = event.kind();
  if (category == EventCategory::device_annotation) return std::nullopt;
  if (is_device_activity(category) && category != EventCategory::sync) return std::nullopt;
  if (event.is_other_type() || event[Member::dur].empty()) return std::nullopt;
  if (category == EventCategory::sync) return add_sync(event, names);
  const std::string_view text = between_quotes(event[Member::category]);
  if (text.empty() || text == "Trace") return std::nullopt;
  const auto times = event_times(event[Member::ts], event[Member::dur]);
  if (!times) return RejectReason::time;
  const auto name_text = strings_.read(event[Member::name]);
  if (!name_text) return RejectReason::utf8;
  const auto name = names.intern(*name_text);
  const auto thread = thread_of(event);
  if (!name || !thread || rows_.size() >= kMostRows) {
    ++left_out_;
    return std::nullopt;
  }
  const std::int64_t correlation = integer_or(event[Member::correlation], CorrelationIndex::kNone);
  if (correlation > CorrelationIndex::kNone) {
    make_room(calls_, kMostRows);
    calls_.push_back({correlation, static_cast<std::uint32_t>(rows_.size())});
  }
  make_room(rows_, kMostRows);
  rows_.push_back(
      {times->start_ns, times->duration_ns, *name, *thread, kNoLaunch, host_kind(category)});
  return std::nullopt;
}

// The record of a CUDA event is not a wait; the device reports it as well.
std::optional<RejectReason> HostEvents::add_sync(const ProfilerEvent& event, CycleNames& names) {
  if (between_quotes(event[Member::category]) == "cuda_event") return std::nullopt;
  const auto times = event_times(event[Member::ts], event[Member::dur]);
  if (!times) return RejectReason::time;
  const auto text = strings_.read(event[Member::name]);
  if (!text) return RejectReason::utf8;
  const auto name = names.intern(*text);
  if (!name || syncs_.size() >= kMostSyncs) {
    ++left_out_;
    return std::nullopt;
  }
  SyncRow row{times->start_ns, times->duration_ns, *name};
  row.device =
      small_integer(event[Member::device].empty() ? event[Member::pid] : event[Member::device])
          .value_or(0);
  row.stream = small_integer(event[Member::stream]).value_or(kNoStream);
  row.waits_for = small_integer(event[Member::waits_for]).value_or(kNoStream);
  syncs_.push_back(row);
  named_.push_back({integer_or(event[Member::correlation], CorrelationIndex::kNone),
                    integer_or(event[Member::event_record], CorrelationIndex::kNone)});
  return std::nullopt;
}

// Nothing: there are too many.
std::optional<std::uint32_t> HostEvents::thread_of(const ProfilerEvent& event) {
  const std::string_view pid = event[Member::pid];
  const std::string_view tid = event[Member::tid];
  if (pid.size() + tid.size() > kLongestThread) return std::nullopt;
  const std::size_t size = pid.size() + 1 + tid.size();
  const std::string_view last = last_thread_;
  if (last.size() == size && last.starts_with(pid) && last.ends_with(tid) &&
      last[pid.size()] == '\n') {
    return last_thread_number_;
  }
  std::string key;
  key.append(pid).append(1, '\n').append(tid);
  if (threads_.size() >= kMostThreads && !threads_.contains(key)) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(threads_.size());
  last_thread_number_ = threads_.try_emplace(key, number).first->second;
  last_thread_ = std::move(key);
  return last_thread_number_;
}

void HostEvents::finish(CycleTrace& cycle, LaunchCorrelator& correlator, std::int64_t base_ns) {
  link_calls(cycle, correlator);
  for (HostEvent& row : rows_) row.start_ns = absolute_ns(row.start_ns, base_ns);
  for (SyncRow& row : syncs_) row.start_ns = absolute_ns(row.start_ns, base_ns);
  std::stable_sort(rows_.begin(), rows_.end(), [](const HostEvent& a, const HostEvent& b) {
    return std::tuple(a.thread, a.start_ns, -a.duration_ns) <
           std::tuple(b.thread, b.start_ns, -b.duration_ns);
  });
  std::stable_sort(syncs_.begin(), syncs_.end(),
                   [](const SyncRow& a, const SyncRow& b) { return a.start_ns < b.start_ns; });
  cycle.left_out += std::exchange(left_out_, 0);
  cycle.host = std::move(rows_);
  cycle.syncs = std::move(syncs_);
}

// Where two calls have one correlation, the launch is the one that began when it did.
void HostEvents::link_calls(CycleTrace& cycle, LaunchCorrelator& correlator) {
  CorrelationIndex wanted;  // what synchronisations name: kNoLaunch, then the launch
  for (const Named& named : named_) {
    for (const std::int64_t correlation : {named.call, named.event_record}) {
      if (correlation > CorrelationIndex::kNone && wanted.find(correlation) == nullptr)
        wanted.insert(correlation, kNoLaunch);
    }
  }
  for (const Call& call : calls_) {
    HostEvent& row = rows_[call.row];
    std::uint32_t launch = correlator.launch_of(call.correlation);
    std::uint32_t* const asked = wanted.size() == 0 ? nullptr : wanted.find(call.correlation);
    if (launch == kNoLaunch && asked != nullptr && *asked == kNoLaunch)
      launch = LaunchCorrelator::add(cycle, {row.start_ns, row.duration_ns, row.name});
    if (launch == kNoLaunch) continue;
    if (asked != nullptr && *asked == kNoLaunch) *asked = launch;
    if (cycle.launches[launch].start_ns == row.start_ns) row.launch = launch;
  }
  link_syncs(wanted);
  release_memory(calls_);
}

void HostEvents::link_syncs(CorrelationIndex& launches) {
  const auto launch_of = [&](std::int64_t correlation) {
    const std::uint32_t* const known =
        correlation > CorrelationIndex::kNone ? launches.find(correlation) : nullptr;
    return known != nullptr ? *known : kNoLaunch;
  };
  for (std::size_t i = 0; i < syncs_.size(); ++i) {
    syncs_[i].launch = launch_of(named_[i].call);
    syncs_[i].event_record = launch_of(named_[i].event_record);
  }
  release_memory(named_);
}

void HostActivity::add(const Interval& active) {
  // Nearly always the next one of the same thread.
  if (!parts_.empty() && active.start_ns >= parts_.back().start_ns &&
      reaches(parts_.back(), active)) {
    parts_.back().end_ns = std::max(parts_.back().end_ns, active.end_ns);
    return;
  }
  auto first = std::partition_point(parts_.begin(), parts_.end(), [&](const Interval& part) {
    return part.end_ns < active.start_ns && !reaches(part, active);
  });
  auto last = std::partition_point(first, parts_.end(), [&](const Interval& part) {
    return part.start_ns <= active.end_ns || reaches(active, part);
  });
  if (first == last) {
    if (parts_.size() == kMostParts) {
      too_many_ = true;
    } else {
      parts_.insert(first, active);
    }
    return;
  }
  first->start_ns = std::min(first->start_ns, active.start_ns);
  first->end_ns = std::max(std::prev(last)->end_ns, active.end_ns);
  parts_.erase(std::next(first), last);
}

std::vector<Interval> HostActivity::pauses() const {
  std::vector<Interval> found;
  if (too_many_) return found;
  for (std::size_t i = 1; i < parts_.size(); ++i)
    found.push_back({parts_[i - 1].end_ns, parts_[i].start_ns});
  return found;
}

}  // namespace trainwatch
