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

// Of an event, what the rows are made of. Absent members are empty.
struct HostEvents::Tokens {
  std::string_view type, category, name, ts, dur, pid, tid;
  std::string_view correlation, stream, device, waits_for, event_record;  // of "args"

  // False: the record is broken.
  bool read(bool with_arguments, std::string_view event);

 private:
  std::string_view* member(std::string_view key);
  std::string_view* argument(std::string_view key);
};

std::string_view* HostEvents::Tokens::member(std::string_view key) {
  if (key == "ph") return &type;
  if (key == "cat") return &category;
  if (key == "name") return &name;
  if (key == "ts") return &ts;
  if (key == "dur") return &dur;
  if (key == "pid") return &pid;
  return key == "tid" ? &tid : nullptr;
}

std::string_view* HostEvents::Tokens::argument(std::string_view key) {
  if (key == "correlation") return &correlation;
  if (key == "stream") return &stream;
  if (key == "device") return &device;
  if (key == "wait_on_stream") return &waits_for;
  return key == "wait_on_cuda_event_record_corr_id" ? &event_record : nullptr;
}

bool HostEvents::Tokens::read(bool with_arguments, std::string_view event) {
  JsonCursor cursor{event};
  cursor.enter();
  for (std::string_view key; cursor.next(key);) {
    if (with_arguments && key == "args" && cursor.at_object()) {
      cursor.enter();
      for (std::string_view inner; cursor.next(inner);) {
        const std::string_view value = cursor.value();
        if (std::string_view* const place = argument(inner)) *place = value;
      }
    } else {
      const std::string_view value = cursor.value();
      if (std::string_view* const place = member(key)) *place = value;
    }
  }
  return !cursor.failed();
}

std::optional<RejectReason> HostEvents::take(EventCategory category, std::string_view event,
                                             CycleNames& names) {
  if (category == EventCategory::device_annotation) return std::nullopt;
  if (is_device_activity(category) && category != EventCategory::sync) return std::nullopt;
  Tokens tokens;
  const bool with_arguments = category == EventCategory::call || category == EventCategory::sync;
  if (!tokens.read(with_arguments, event)) return RejectReason::syntax;
  if (!tokens.type.empty() && tokens.type != "\"X\"") return std::nullopt;
  if (tokens.dur.empty()) return std::nullopt;
  if (category == EventCategory::sync) return add_sync(tokens, names);
  const std::string_view text = between_quotes(tokens.category);
  if (text.empty() || text == "Trace") return std::nullopt;
  const auto times = event_times(tokens.ts, tokens.dur);
  if (!times) return RejectReason::time;
  const auto name_text = strings_.read(tokens.name);
  if (!name_text) return RejectReason::utf8;
  const auto name = names.intern(*name_text);
  const auto thread = thread_of(tokens);
  if (!name || !thread || rows_.size() >= kMostRows) {
    ++left_out_;
    return std::nullopt;
  }
  const std::int64_t correlation = integer_or(tokens.correlation, CorrelationIndex::kNone);
  if (correlation > CorrelationIndex::kNone) {
    make_room(calls_, kMostRows);
    calls_.push_back({correlation, static_cast<std::uint32_t>(rows_.size())});
  }
  make_room(rows_, kMostRows);
  rows_.push_back(
      {times->start_ns, times->duration_ns, *name, *thread, kNoRow, host_kind(category)});
  return std::nullopt;
}

// The record of a CUDA event is not a wait; the device reports it as well.
std::optional<RejectReason> HostEvents::add_sync(const Tokens& tokens, CycleNames& names) {
  if (between_quotes(tokens.category) == "cuda_event") return std::nullopt;
  const auto times = event_times(tokens.ts, tokens.dur);
  if (!times) return RejectReason::time;
  const auto text = strings_.read(tokens.name);
  if (!text) return RejectReason::utf8;
  const auto name = names.intern(*text);
  if (!name || syncs_.size() >= kMostSyncs) {
    ++left_out_;
    return std::nullopt;
  }
  SyncRow row{times->start_ns, times->duration_ns, *name};
  row.device = small_integer(tokens.device.empty() ? tokens.pid : tokens.device).value_or(0);
  row.stream = small_integer(tokens.stream).value_or(kNoStream);
  row.waits_for = small_integer(tokens.waits_for).value_or(kNoStream);
  syncs_.push_back(row);
  named_.push_back({integer_or(tokens.correlation, CorrelationIndex::kNone),
                    integer_or(tokens.event_record, CorrelationIndex::kNone)});
  return std::nullopt;
}

// Nothing: there are too many.
std::optional<std::uint32_t> HostEvents::thread_of(const Tokens& tokens) {
  if (tokens.pid.size() + tokens.tid.size() > kLongestThread) return std::nullopt;
  const std::size_t size = tokens.pid.size() + 1 + tokens.tid.size();
  const std::string_view last = last_thread_;
  if (last.size() == size && last.starts_with(tokens.pid) && last.ends_with(tokens.tid) &&
      last[tokens.pid.size()] == '\n') {
    return last_thread_number_;
  }
  std::string key;
  key.append(tokens.pid).append(1, '\n').append(tokens.tid);
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
  CorrelationIndex wanted;  // what synchronisations name: kNoRow, then the launch
  for (const Named& named : named_) {
    for (const std::int64_t correlation : {named.call, named.event_record}) {
      if (correlation > CorrelationIndex::kNone && wanted.find(correlation) == nullptr)
        wanted.insert(correlation, kNoRow);
    }
  }
  for (const Call& call : calls_) {
    HostEvent& row = rows_[call.row];
    std::uint32_t launch = correlator.launch_of(call.correlation);
    std::uint32_t* const asked = wanted.size() == 0 ? nullptr : wanted.find(call.correlation);
    if (launch == kNoRow && asked != nullptr && *asked == kNoRow)
      launch = LaunchCorrelator::add(cycle, {row.start_ns, row.duration_ns, row.name, 0});
    if (launch == kNoRow) continue;
    if (asked != nullptr && *asked == kNoRow) *asked = launch;
    if (cycle.launches[launch].start_ns == row.start_ns) row.launch = launch;
  }
  link_syncs(wanted);
  release_memory(calls_);
}

void HostEvents::link_syncs(CorrelationIndex& launches) {
  const auto launch_of = [&](std::int64_t correlation) {
    const std::uint32_t* const known =
        correlation > CorrelationIndex::kNone ? launches.find(correlation) : nullptr;
    return known != nullptr ? *known : kNoRow;
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
