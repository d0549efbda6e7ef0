// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/event_tokens.h"

#include <cstdint>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/json_cursor.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

// Viewers use JavaScript, whose numbers are doubles: 2^13 traces with ids below 2^40.
constexpr unsigned kFlowIdBits = 40;

std::string_view* place_of_member(EventTokens& tokens, std::string_view key) {
  if (key == "ph") return &tokens.phase;
  if (key == "name") return &tokens.name;
  if (key == "ts") return &tokens.ts;
  if (key == "dur") return &tokens.dur;
  if (key == "pid") return &tokens.pid;
  if (key == "tid") return &tokens.tid;
  if (key == "id") return &tokens.id;
  return key == "args" ? &tokens.args : nullptr;
}

std::string_view* place_of_argument(EventArguments& arguments, std::string_view key) {
  if (key == "name") return &arguments.name;
  if (key == "labels") return &arguments.labels;
  if (key == "sort_index") return &arguments.sort_index;
  if (key == "step_num") return &arguments.step_num;
  return key == "start_time_since_epoch_in_micros" ? &arguments.start_time_us : nullptr;
}

bool says_what_when_or_where(std::string_view key) {
  return key == "ph" || key == "name" || key == "ts" || key == "dur" || key == "pid" ||
         key == "tid";
}

}  // namespace

EventTokens::EventTokens(std::string_view event) {
  JsonCursor cursor{event};
  cursor.enter();
  for (std::string_view key; cursor.next(key);) {
    const std::string_view value = cursor.value();
    if (std::string_view* const place = place_of_member(*this, key)) *place = value;
  }
}

bool EventTokens::has_global_id() const {
  return type() != '\0' && std::string_view("stfbne").find(type()) != std::string_view::npos;
}

EventArguments::EventArguments(std::string_view args) {
  JsonCursor cursor{args};
  if (!cursor.at_object()) return;
  cursor.enter();
  for (std::string_view key; cursor.next(key);) {
    const std::string_view value = cursor.value();
    if (std::string_view* const place = place_of_argument(*this, key)) *place = value;
  }
}

void append_other_members(std::string_view event, std::string_view id, std::string& out) {
  JsonCursor cursor{event};
  cursor.enter();
  for (std::string_view key; cursor.next(key);) {
    const std::string_view value = cursor.value();
    if (says_what_when_or_where(key)) continue;
    const bool other_id = key == "id" && !id.empty();
    out.append(", \"").append(key).append("\": ").append(other_id ? id : value);
  }
}

std::string unique_id(std::string_view token, std::size_t trace) {
  const auto number = parse_integer(token);
  if (number && *number >= 0 && *number >> kFlowIdBits == 0)
    return std::to_string(*number + (static_cast<std::int64_t>(trace) << kFlowIdBits));
  const std::string_view text = between_quotes(token);
  JsonWriter json;
  json.value(std::to_string(trace) + ':' + std::string(text.empty() ? token : text));
  return json.take();
}

}  // namespace trainwatch
