// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/event_mover.h"

#include <algorithm>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/timeline/counter_events.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

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

void EventMover::replace(std::string_view event, std::string_view token, std::string text) {
  edits_.push_back(
      {static_cast<std::size_t>(token.data() - event.data()), token.size(), std::move(text)});
}

void EventMover::move_process(std::string_view event, const EventTokens& tokens) {
  ProcessNumbers::Process& process = processes_.process(group_, tokens.pid);
  replace(event, tokens.pid, std::to_string(process.number));
  if (!tokens.is_metadata()) return;
  const EventArguments arguments(tokens.args);
  const std::string_view name = between_quotes(tokens.name);
  if (name == "process_name" && is_string_token(arguments.name)) {
    std::string prefix = quoted(processes_.name(group_) + ": ");
    prefix.pop_back();
    replace(event, arguments.name.substr(0, 1), std::move(prefix));
    process.named = true;
  }
  if (name == "process_sort_index" && !arguments.sort_index.empty()) {
    replace(event, arguments.sort_index, std::to_string(group_));
    process.sorted = true;
  }
}

std::string_view EventMover::move(std::string_view event) {
  const EventTokens tokens(event);
  edits_.clear();
  if (!tokens.pid.empty()) move_process(event, tokens);
  if (!tokens.id.empty() && tokens.has_global_id())
    replace(event, tokens.id, unique_id(tokens.id, trace_));
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
