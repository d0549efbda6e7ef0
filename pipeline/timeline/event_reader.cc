// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/event_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "pipeline/decode/decimal_time.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostPhases = 65536;
constexpr std::size_t kMostThreads = 65536;  // of one phase in one file

std::optional<std::int64_t> micros(std::string_view token) {
  return parse_time_ns(token, TimeUnit::microseconds);
}

}  // namespace

bool SpanPairs::begin(std::uint64_t key, std::string_view name, std::int64_t start_ns) {
  if (open_.size() >= kMostKeys && !open_.contains(key)) return false;
  std::vector<Begun>& open = open_[key];
  if (open.size() >= kMostOpen) return false;
  open.push_back({std::string(name), start_ns});
  return true;
}

bool SpanPairs::end(std::uint64_t key, Begun& begun) {
  const auto open = open_.find(key);
  if (open == open_.end() || open->second.empty()) return false;
  begun = std::move(open->second.back());
  open->second.pop_back();
  return true;
}

Rejection TraceEventsReader::record(std::string_view text) {
  const EventTokens tokens(text);
  if (tokens.type() == '\0') return std::nullopt;  // such as the {} at the end of a trace
  return read(text, tokens);
}

Rejection TraceEventsReader::make_event(std::string_view text, const EventTokens& tokens,
                                        std::int64_t base_ns, std::uint64_t key,
                                        TimelineEvent& event) {
  const auto at = micros(tokens.ts);
  if (!at) return RejectReason::time;
  const char type = tokens.type();
  if (type != 'E' && !is_string_token(tokens.name)) return RejectReason::type;
  event.start_ns = saturating_add(*at, base_ns);
  event.type = type == 'I' ? 'i' : type;
  event.name = tokens.name;
  if (type == 'B') {
    event.type = '\0';
    if (!check_.is_object(text)) return RejectReason::syntax;
    const bool room = pairs_.begin(key, tokens.name, event.start_ns);
    return room ? std::nullopt : Rejection(RejectReason::cardinality);
  }
  if (type == 'E') {
    event.type = '\0';
    // Rotation may have cut the pair: the file before this one has the B.
    if (!pairs_.end(key, begun_)) return std::nullopt;
    event.duration_ns = event.start_ns - begun_.start_ns;
    if (event.duration_ns < 0) return RejectReason::time;
    event.start_ns = begun_.start_ns;
    event.name = begun_.name;
    event.type = 'X';
  } else if (type == 'X') {
    const auto duration = tokens.dur.empty() ? 0 : micros(tokens.dur);
    if (!duration) return RejectReason::time;
    event.duration_ns = std::max<std::int64_t>(*duration, 0);  // -1: the profiler missed the end
  }
  return std::nullopt;
}

Rejection TraceEventsReader::pass(TimelineEvent event, std::string_view text, std::string_view id) {
  if (!window_.touches(event)) return std::nullopt;
  if (!check_.is_object(text)) return RejectReason::syntax;
  rest_.clear();
  append_other_members(text, id, rest_);
  event.rest = rest_;
  sink_.event(event);
  return std::nullopt;
}

std::string_view TraceEventsReader::text_of(std::string_view token) {
  return strings_.read(token).value_or(std::string_view{});
}

PhaseReader::Phase* PhaseReader::phase_of(std::string_view pid) {
  if (const auto known = phases_.find(pid); known != phases_.end()) return &known->second;
  if (phases_.size() >= kMostPhases) return nullptr;
  Phase& phase = phases_[std::string(pid)];
  phase.process = tracks_.phase("Unknown");
  phase.key = phases_.size();
  return &phase;
}

TrackId PhaseReader::thread_of(Phase& phase, std::string_view tid) {
  if (const auto known = phase.threads.find(tid); known != phase.threads.end())
    return known->second;
  const TrackId track = tracks_.thread(phase.process, writer_, tid);
  if (phase.threads.size() < kMostThreads) phase.threads.emplace(tid, track);
  return track;
}

Rejection PhaseReader::metadata(const EventTokens& tokens) {
  const EventArguments arguments(tokens.args);
  if (!arguments.start_time_us.empty()) {
    const auto start = micros(arguments.start_time_us);
    if (!start) return RejectReason::time;
    base_ns_ = *start;
  }
  const std::string_view kind = between_quotes(tokens.name);
  if (arguments.name.empty() || (kind != "process_name" && kind != "thread_name"))
    return std::nullopt;
  Phase* const phase = phase_of(tokens.pid);
  if (phase == nullptr) return RejectReason::cardinality;
  if (kind == "process_name") {
    const ProcessId process = tracks_.phase(text_of(arguments.name));
    if (process != phase->process) phase->threads.clear();
    phase->process = process;
  } else {
    const std::string prefix = writer_.empty() ? "" : writer_ + '_';
    tracks_.name_thread(thread_of(*phase, tokens.tid),
                        prefix + std::string(text_of(arguments.name)));
  }
  return std::nullopt;
}

Rejection PhaseReader::read(std::string_view text, const EventTokens& tokens) {
  const char type = tokens.type();
  if (type == 'M') return metadata(tokens);
  if (std::string_view("XBEiIC").find(type) == std::string_view::npos) return std::nullopt;
  Phase* const phase = phase_of(tokens.pid);
  if (phase == nullptr) return RejectReason::cardinality;
  TimelineEvent event;
  const Rejection reason = make_event(text, tokens, base_ns_, phase->key, event);
  if (reason || event.type == '\0') return reason;
  if (step_ && event.type == 'X') {
    const std::int64_t step = integer_or(EventArguments(tokens.args).step_num, -1);
    if (step >= 0) step_(step, event.start_ns);
  }
  event.track = thread_of(*phase, tokens.tid);
  return pass(event, text, {});
}

TrackId ProfilerReader::track_of(const EventTokens& tokens) {
  if (tokens.pid != last_pid_ || tokens.tid != last_tid_ || last_pid_.empty()) {
    last_pid_ = tokens.pid;
    last_tid_ = tokens.tid;
    track_ = tracks_.thread(tracks_.process(group_, tokens.pid), "", tokens.tid);
  }
  return track_;
}

void ProfilerReader::metadata(const EventTokens& tokens) {
  const EventArguments arguments(tokens.args);
  const std::string_view kind = between_quotes(tokens.name);
  if (kind == "process_name" && !arguments.name.empty())
    tracks_.name_process(tracks_.process(group_, tokens.pid), text_of(arguments.name));
  if (kind == "process_labels" && !arguments.labels.empty())
    tracks_.label_process(tracks_.process(group_, tokens.pid), text_of(arguments.labels));
  if (kind == "thread_name" && !arguments.name.empty())
    tracks_.name_thread(track_of(tokens), text_of(arguments.name));
}

Rejection ProfilerReader::read(std::string_view text, const EventTokens& tokens) {
  if (tokens.is_metadata()) {
    metadata(tokens);
    return std::nullopt;
  }
  const TrackId track = track_of(tokens);
  TimelineEvent event;
  const Rejection reason =
      make_event(text, tokens, base_ns_, static_cast<std::uint64_t>(track), event);
  if (reason || event.type == '\0') return reason;
  event.track = track;
  const std::string id =
      !tokens.id.empty() && tokens.has_global_id() ? unique_id(tokens.id, trace_) : "";
  return pass(event, text, id);
}

}  // namespace trainwatch
