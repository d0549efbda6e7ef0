#include "pipeline/timeline/event_mover.h"

#include <algorithm>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/timeline/counter_events.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

// Viewers use JavaScript, whose numbers are doubles: 2^13 traces with ids below 2^40.
constexpr unsigned kFlowIdBits = 40;
// Broken files have any number of them. Those beyond the limit share one.
constexpr std::size_t kMostProcesses = std::size_t{1} << 16U;
constexpr std::size_t kLongestPid = 256;
constexpr std::string_view kFurther = "\"further\"";

std::string quoted(std::string_view text) {
  JsonWriter json;
  json.value(text);
  return json.take();
}

std::string metadata(std::string_view name, std::int64_t pid, std::string_view argument,
                     const std::string& value) {
  JsonWriter json;
  json.begin_object().field("ph", "M").field("name", name).field("pid", pid);
  json.key("args").begin_object().key(argument).raw(value).end_object().end_object();
  return json.take();
}

// Begin, step and end of a flow, and asynchronous events: identified by id alone.
bool has_global_id(std::string_view phase) {
  return phase.size() == 1 && std::string_view("stfbne").find(phase) != std::string_view::npos;
}

}  // namespace

std::size_t ProcessNumbers::group(const std::string& name) {
  const auto found = std::ranges::find(groups_, name, &Group::name);
  if (found == groups_.end()) {
    groups_.push_back({name, {}});
    return groups_.size() - 1;
  }
  return static_cast<std::size_t>(found - groups_.begin());
}

ProcessNumbers::Process& ProcessNumbers::process(std::size_t group, std::string_view pid) {
  auto& known = groups_[group].processes;
  if (pid.size() > kLongestPid) pid = kFurther;
  if (const auto found = known.find(pid); found != known.end()) return found->second;
  if (count_ >= kMostProcesses) pid = kFurther;
  const auto [place, added] = known.try_emplace(std::string(pid));
  if (added) place->second.number = static_cast<std::int64_t>(++count_);
  return place->second;
}

void ProcessNumbers::emit_missing(const std::function<void(std::string_view)>& event) const {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    for (const auto& [token, process] : groups_[i].processes) {
      const std::string_view text = between_quotes(token);
      const std::string name = groups_[i].name + ": ";
      if (!process.named) {
        event(metadata("process_name", process.number, "name",
                       quoted(name + (text.empty() ? token : std::string(text)))));
      }
      if (!process.sorted)
        event(metadata("process_sort_index", process.number, "sort_index", std::to_string(i)));
    }
  }
}

// Absent members are empty.
struct EventMover::Tokens {
  std::string_view phase, name, pid, id, ts, args;
  std::string_view args_name, args_sort_index;

  explicit Tokens(std::string_view event) {
    JsonCursor cursor{event};
    cursor.enter();
    for (std::string_view key; cursor.next(key);) {
      const std::string_view value = cursor.value();
      if (std::string_view* const place = member(key)) *place = value;
    }
    if (is_metadata()) read_arguments();
  }
  bool is_metadata() const { return phase == "\"M\""; }

 private:
  std::string_view* member(std::string_view key) {
    if (key == "ph") return &phase;
    if (key == "name") return &name;
    if (key == "pid") return &pid;
    if (key == "id") return &id;
    if (key == "args") return &args;
    return key == "ts" ? &ts : nullptr;
  }
  void read_arguments() {
    JsonCursor cursor{args};
    cursor.enter();
    for (std::string_view key; cursor.next(key);) {
      const std::string_view value = cursor.value();
      if (key == "name") args_name = value;
      if (key == "sort_index") args_sort_index = value;
    }
  }
};

void EventMover::replace(std::string_view event, std::string_view token, std::string text) {
  edits_.push_back(
      {static_cast<std::size_t>(token.data() - event.data()), token.size(), std::move(text)});
}

std::string EventMover::flow_id(std::string_view token) const {
  const auto number = parse_integer(token);
  if (!number || *number < 0 || *number >> kFlowIdBits != 0) {
    const std::string_view text = between_quotes(token);
    return quoted(std::to_string(trace_) + ':' + std::string(text.empty() ? token : text));
  }
  return std::to_string(*number + (static_cast<std::int64_t>(trace_) << kFlowIdBits));
}

void EventMover::move_process(std::string_view event, const Tokens& tokens) {
  ProcessNumbers::Process& process = processes_.process(group_, tokens.pid);
  replace(event, tokens.pid, std::to_string(process.number));
  if (!tokens.is_metadata()) return;
  const std::string_view name = between_quotes(tokens.name);
  if (name == "process_name" && is_string_token(tokens.args_name)) {
    std::string prefix = quoted(processes_.name(group_) + ": ");
    prefix.pop_back();
    replace(event, tokens.args_name.substr(0, 1), std::move(prefix));
    process.named = true;
  }
  if (name == "process_sort_index" && !tokens.args_sort_index.empty()) {
    replace(event, tokens.args_sort_index, std::to_string(group_));
    process.sorted = true;
  }
}

std::string_view EventMover::move(std::string_view event) {
  const Tokens tokens(event);
  edits_.clear();
  if (!tokens.pid.empty()) move_process(event, tokens);
  if (!tokens.id.empty() && has_global_id(between_quotes(tokens.phase)))
    replace(event, tokens.id, flow_id(tokens.id));
  const auto time = parse_time_ns(tokens.ts, TimeUnit::microseconds);
  if (shift_ns_ != 0 && time && !tokens.is_metadata())
    replace(event, tokens.ts, micros_text(saturating_add(*time, shift_ns_)));
  std::sort(edits_.begin(), edits_.end(),
            [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  moved_.clear();
  std::size_t from = 0;
  for (const Edit& edit : edits_) {
    moved_.append(event.substr(from, edit.begin - from)).append(edit.text);
    from = edit.begin + edit.size;
  }
  return moved_.append(event.substr(from));
}

}  // namespace trainwatch
