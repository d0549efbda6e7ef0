#include "pipeline/decode/kineto/cycle_builder.h"

#include <algorithm>
#include <utility>

#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/kineto/cycle_rows.h"

namespace trainwatch {
namespace {

// Of what is written as N/A or inf: none.
float bandwidth(std::string_view token) {
  const double gbps = parse_number(token).value_or(0);
  return gbps > 0 && gbps < 1e9 ? static_cast<float>(gbps) : 0.0F;
}

}  // namespace

// Of an event, what the rows are made of. Absent members are empty.
struct CycleBuilder::Tokens {
  std::string_view type, name, ts, dur, pid;
  std::string_view stream, device, correlation, bandwidth, group, sequence;  // of "args"
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;

  // False: the record is broken.
  bool read(EventCategory category, std::string_view event);
  bool read_times();

 private:
  bool has_all(EventCategory category) const;
  void read_arguments(EventCategory category, JsonCursor& cursor);
  std::string_view* member(std::string_view key);
  std::string_view* argument(std::string_view key);
};

std::string_view* CycleBuilder::Tokens::member(std::string_view key) {
  if (key == "ts") return &ts;
  if (key == "dur") return &dur;
  if (key == "name") return &name;
  if (key == "pid") return &pid;
  return key == "ph" ? &type : nullptr;
}

std::string_view* CycleBuilder::Tokens::argument(std::string_view key) {
  if (key == "stream" || (key == "stream_id" && stream.empty())) return &stream;
  if (key == "device") return &device;
  if (key == "correlation") return &correlation;
  if (key == "Process Group Name") return &group;
  if (key == "Seq") return &sequence;
  return key == "memory bandwidth (GB/s)" ? &bandwidth : nullptr;
}

// The rest of the event, which is long for kernels, need not be read.
bool CycleBuilder::Tokens::has_all(EventCategory category) const {
  if (correlation.empty() || name.empty() || ts.empty() || dur.empty()) return false;
  if (category == EventCategory::call) return true;
  if (stream.empty() || device.empty()) return false;
  if (between_quotes(name).starts_with("nccl")) return !group.empty() && !sequence.empty();
  const bool memory =
      category == EventCategory::memory_copy || category == EventCategory::memory_set;
  return !memory || !bandwidth.empty();
}

void CycleBuilder::Tokens::read_arguments(EventCategory category, JsonCursor& cursor) {
  cursor.enter();
  for (std::string_view key; cursor.next(key);) {
    const std::string_view value = cursor.value();
    std::string_view* const place = argument(key);
    if (place == nullptr) continue;
    *place = value;
    if (has_all(category)) return;
  }
}

bool CycleBuilder::Tokens::read(EventCategory category, std::string_view event) {
  JsonCursor cursor{event};
  cursor.enter();
  for (std::string_view key; cursor.next(key);) {
    if (key == "args" && cursor.at_object()) {
      read_arguments(category, cursor);
    } else {
      const std::string_view value = cursor.value();
      if (std::string_view* const place = member(key)) *place = value;
    }
    if (has_all(category)) return !cursor.failed();
  }
  return !cursor.failed();
}

bool CycleBuilder::Tokens::read_times() {
  const auto times = event_times(ts, dur);
  if (!times) return false;
  start_ns = times->start_ns;
  duration_ns = times->duration_ns;
  return true;
}

std::optional<RejectReason> CycleBuilder::take(EventCategory category, std::string_view event) {
  if (is_for_cycles(category)) {
    if (const auto refusal = take_row(category, event)) return refusal;
  }
  return host_ == nullptr ? std::nullopt : host_->take(category, event, names_);
}

std::optional<RejectReason> CycleBuilder::take_row(EventCategory category, std::string_view event) {
  Tokens tokens;
  if (!tokens.read(category, event)) return RejectReason::syntax;
  if (!tokens.type.empty() && tokens.type != "\"X\"") return std::nullopt;
  if (is_device_activity(category)) return add_activity(category, tokens);
  if (!tokens.read_times()) return RejectReason::time;
  if (category == EventCategory::call) return call(tokens);
  const auto text = strings_.read(tokens.name);
  if (!text) return RejectReason::utf8;
  const auto name = name_id(*text);
  if (name && cycle_.annotations.size() < kMostAnnotations) {
    cycle_.annotations.push_back(
        {tokens.start_ns, tokens.duration_ns, *name, category == EventCategory::device_annotation});
  } else if (name) {
    ++cycle_.left_out;
  }
  return std::nullopt;
}

std::optional<RejectReason> CycleBuilder::call(Tokens& tokens) {
  const Interval active{tokens.start_ns, saturating_add(tokens.start_ns, tokens.duration_ns)};
  activity_.add(active);
  const auto text = strings_.read(tokens.name);
  if (!text) return RejectReason::utf8;
  const auto name = name_id(*text);
  if (!name) return std::nullopt;
  const bool blocks = names_.blocks(*name);
  if (blocks && cycle_.blocking_calls.size() < kMostBlockingCalls) {
    cycle_.blocking_calls.push_back(active);
  } else if (blocks) {
    ++cycle_.left_out;
  }
  if (tokens.correlation.empty()) return std::nullopt;
  correlator_.call(cycle_, {tokens.start_ns, tokens.duration_ns, *name, 0},
                   integer_or(tokens.correlation, CorrelationIndex::kNone), names_.launches(*name));
  make_room(cycle_.launches, LaunchCorrelator::kMostLaunches);
  return std::nullopt;
}

// Where the writer says which collective it is.
void CycleBuilder::collective(const Tokens& tokens) {
  const auto sequence = parse_integer(tokens.sequence);
  if (!sequence || tokens.group.empty()) return;
  if (cycle_.collectives.size() == kMostCollectives) {
    ++cycle_.left_out;
    return;
  }
  const auto text = strings_.read(tokens.group);
  const auto group = text ? name_id(*text) : std::nullopt;
  if (group) cycle_.collectives.push_back({tokens.start_ns, tokens.duration_ns, *sequence, *group});
}

std::optional<RejectReason> CycleBuilder::add_activity(EventCategory category, Tokens& tokens) {
  const auto stream = small_integer(tokens.stream);
  if (!stream || *stream == kNoStream) return std::nullopt;  // of a whole context
  if (!tokens.read_times()) return RejectReason::time;
  const auto text = strings_.read(tokens.name);
  if (!text) return RejectReason::utf8;
  const auto name = name_id(*text);
  if (!name) return std::nullopt;
  if (cycle_.device.size() >= kMostDeviceRows) {
    ++cycle_.left_out;
    return std::nullopt;
  }
  make_room(cycle_.device, kMostDeviceRows);
  DeviceActivity& row = cycle_.device.emplace_back();
  row.start_ns = tokens.start_ns;
  row.duration_ns = tokens.duration_ns;
  row.name = *name;
  row.stream = *stream;
  row.device = small_integer(tokens.device.empty() ? tokens.pid : tokens.device).value_or(0);
  row.memory_gbps = bandwidth(tokens.bandwidth);
  row.kind = device_kind(category);
  row.activity_class = names_.class_of(*name);
  if (row.activity_class == ActivityClass::communication) collective(tokens);
  correlator_.add_activity(cycle_, integer_or(tokens.correlation, CorrelationIndex::kNone));
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
  std::stable_sort(cycle_.device.begin(), cycle_.device.end(),
                   [](const DeviceActivity& a, const DeviceActivity& b) {
                     return std::pair{a.stream, a.start_ns} < std::pair{b.stream, b.start_ns};
                   });
  cycle_.names = names_.take();
  return std::move(cycle_);
}

}  // namespace trainwatch
