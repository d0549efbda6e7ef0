// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/kineto/cycle_builder.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/decode/kineto/cycle_rows.h"
#include "pipeline/decode/kineto/parallelism.h"

namespace trainwatch {
namespace {

using Member = ProfilerEvent::Member;

// Of what is written as N/A or inf: none.
float bandwidth(std::string_view token) {
  const double gbps = parse_number(token).value_or(0);
  return gbps > 0 && gbps < 1e9 ? static_cast<float>(gbps) : 0.0F;
}

// The rows of one stream by start; they nearly always are.
void sort_by_start(const CycleTrace& cycle, std::span<std::uint32_t> rows) {
  const auto start_ns = [&cycle](std::uint32_t row) { return cycle.device[row].start_ns; };
  if (!std::ranges::is_sorted(rows, {}, start_ns)) std::ranges::stable_sort(rows, {}, start_ns);
}

// By stream, then start; those of one moment in the order of the file.
std::vector<std::uint32_t> rows_by_stream(const CycleTrace& cycle) {
  std::map<std::int32_t, std::uint32_t> ends;  // how many rows a stream has; then where they end
  for (const DeviceActivity& row : cycle.device) ++ends[cycle.stream_of(row)];
  std::uint32_t end = 0;
  for (auto& [stream, rows] : ends) end = rows += end;
  std::vector<std::uint32_t> order(cycle.device.size());
  for (auto row = static_cast<std::uint32_t>(order.size()); row-- > 0;) {
    order[--ends[cycle.stream_of(cycle.device[row])]] = row;
  }
  for (auto begin = ends.begin(); begin != ends.end(); ++begin) {
    const auto next = std::next(begin);
    const std::size_t to = next == ends.end() ? order.size() : next->second;
    sort_by_start(cycle, std::span(order).subspan(begin->second, to - begin->second));
  }
  return order;
}

}  // namespace

std::optional<RejectReason> CycleBuilder::take(const ProfilerEvent& event) {
  if (is_for_cycles(event.kind())) {
    if (const auto refusal = take_row(event)) return refusal;
  }
  return host_ == nullptr ? std::nullopt : host_->take(event, names_);
}

std::optional<RejectReason> CycleBuilder::take_row(const ProfilerEvent& event) {
  if (event.is_other_type()) return std::nullopt;
  if (is_device_activity(event.kind())) return add_activity(event);
  const auto times = event_times(event[Member::ts], event[Member::dur]);
  if (!times) return RejectReason::time;
  return event.kind() == EventCategory::call ? add_call(event, *times)
                                             : add_annotation(event, *times);
}

std::optional<RejectReason> CycleBuilder::add_annotation(const ProfilerEvent& event,
                                                         const EventTimes& times) {
  const auto text = strings_.read(event[Member::name]);
  if (!text) return RejectReason::utf8;
  const auto name = name_id(*text);
  if (name && cycle_.annotations.size() < kMostAnnotations) {
    cycle_.annotations.push_back({times.start_ns, times.duration_ns, *name,
                                  event.kind() == EventCategory::device_annotation});
  } else if (name) {
    ++cycle_.left_out;
  }
  return std::nullopt;
}

std::optional<RejectReason> CycleBuilder::add_call(const ProfilerEvent& event,
                                                   const EventTimes& times) {
  const Interval active{times.start_ns, saturating_add(times.start_ns, times.duration_ns)};
  activity_.add(active);
  const auto text = strings_.read(event[Member::name]);
  if (!text) return RejectReason::utf8;
  const auto name = name_id(*text);
  if (!name) return std::nullopt;
  const bool blocks = names_.blocks(*name);
  if (blocks && cycle_.blocking_calls.size() < kMostBlockingCalls) {
    cycle_.blocking_calls.push_back(active);
  } else if (blocks) {
    ++cycle_.left_out;
  }
  if (event[Member::correlation].empty()) return std::nullopt;
  correlator_.call(cycle_, {times.start_ns, times.duration_ns, *name},
                   integer_or(event[Member::correlation], CorrelationIndex::kNone),
                   names_.launches(*name));
  make_room(cycle_.launches, LaunchCorrelator::kMostLaunches);
  return std::nullopt;
}

std::size_t CycleBuilder::bytes() const {
  const auto of = [](const auto& rows) { return rows.size() * sizeof(rows[0]); };
  return of(cycle_.device) + of(cycle_.launches) + of(cycle_.annotations) + of(cycle_.collectives) +
         of(cycle_.blocking_calls) + correlator_.bytes() + names_.bytes() + places_.bytes() +
         activity_.bytes() + (host_ != nullptr ? host_->bytes() : 0);
}

// Where the writer says which collective it is.
void CycleBuilder::add_collective(const ProfilerEvent& event, const EventTimes& times) {
  const auto sequence = parse_integer(event[Member::sequence]);
  if (!sequence || event[Member::group].empty()) return;
  if (cycle_.collectives.size() == kMostCollectives) {
    ++cycle_.left_out;
    return;
  }
  const auto text = strings_.read(event[Member::group]);
  const auto group = text ? name_id(*text) : std::nullopt;
  if (group) cycle_.collectives.push_back({times.start_ns, times.duration_ns, *sequence, *group});
}

std::optional<RejectReason> CycleBuilder::add_activity(const ProfilerEvent& event) {
  const auto stream = small_integer(event[Member::stream]);
  if (!stream || *stream == kNoStream) return std::nullopt;  // of a whole context
  const auto times = event_times(event[Member::ts], event[Member::dur]);
  if (!times) return RejectReason::time;
  const auto text = strings_.read(event[Member::name]);
  if (!text) return RejectReason::utf8;
  const auto name = name_id(*text);
  if (!name) return std::nullopt;
  if (cycle_.device.size() >= kMostDeviceRows) {
    ++cycle_.left_out;
    return std::nullopt;
  }
  make_room(cycle_.device, kMostDeviceRows);
  const std::string_view device = event[event.has(Member::device) ? Member::device : Member::pid];
  DeviceActivity& row = cycle_.device.emplace_back();
  row.start_ns = times->start_ns;
  row.duration_ns = times->duration_ns & DeviceActivity::kLongestNs;
  row.name = *name;
  row.place = places_.add({*stream, small_integer(device).value_or(0),
                           bandwidth(event[Member::bandwidth])}) &
              DeviceActivity::kMostPlaces;
  row.kind = device_kind(event.kind());
  row.activity_class = names_.class_of(*name);
  if (row.activity_class == ActivityClass::communication) {
    row.within_layers =
        is_within_layers(*text, event[Member::group], event[Member::group_description]);
    add_collective(event, *times);
  }
  correlator_.add_activity(cycle_, integer_or(event[Member::correlation], CorrelationIndex::kNone));
  return std::nullopt;
}

// Nothing: there is no room for one more name, which is counted.
std::optional<NameId> CycleBuilder::name_id(std::string_view name) {
  const auto id = names_.intern(name);
  if (!id) ++cycle_.left_out;
  return id;
}

CycleTrace CycleBuilder::finish(std::int64_t base_ns, std::vector<Interval> data_waits) {
  if (host_ != nullptr) host_->finish(cycle_, correlator_, base_ns);
  correlator_.finish(cycle_);
  for (const Interval& wait : data_waits) activity_.add(wait);
  cycle_.host_pauses = activity_.pauses();
  cycle_.data_waits = std::move(data_waits);
  const auto make_absolute = [base_ns](auto& rows) {
    for (auto& row : rows) row.start_ns = absolute_ns(row.start_ns, base_ns);
  };
  make_absolute(cycle_.device);
  make_absolute(cycle_.launches);
  make_absolute(cycle_.annotations);
  make_absolute(cycle_.collectives);
  for (auto* intervals : {&cycle_.data_waits, &cycle_.blocking_calls, &cycle_.host_pauses}) {
    make_absolute(*intervals);
    for (Interval& interval : *intervals) interval.end_ns = absolute_ns(interval.end_ns, base_ns);
    std::ranges::sort(*intervals, {}, &Interval::start_ns);
  }
  std::ranges::stable_sort(cycle_.collectives, {}, &CollectiveRow::start_ns);
  cycle_.places = places_.take();
  sort_activities();
  cycle_.names = names_.take();
  return std::move(cycle_);
}

// Through their numbers: to sort the rows themselves would take half as much memory as they do.
void CycleBuilder::sort_activities() {
  std::vector<DeviceActivity>& rows = cycle_.device;
  std::vector<std::uint32_t> order = rows_by_stream(cycle_);
  // Each round moves the rows of one cycle of the permutation.
  for (std::uint32_t first = 0; first < order.size(); ++first) {
    const DeviceActivity moved = rows[first];
    std::uint32_t to = first;
    while (order[to] != first) {
      const std::uint32_t from = std::exchange(order[to], to);
      rows[to] = rows[from];
      to = from;
    }
    order[to] = to;
    rows[to] = moved;
  }
}

}  // namespace trainwatch
