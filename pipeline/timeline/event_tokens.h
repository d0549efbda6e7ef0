// SPDX-License-Identifier: Apache-2.0
// One event of a trace in Chrome's format, as raw tokens: what merging looks at. Absent members are
// empty; strings keep their quotes.
#pragma once

#include <string>
#include <string_view>

namespace trainwatch {

struct EventTokens {
  std::string_view phase;  // "ph"
  std::string_view name;
  std::string_view pid;
  std::string_view tid;
  std::string_view id;
  std::string_view ts;
  std::string_view dur;
  std::string_view args;

  // Views into `event`, which is one object.
  explicit EventTokens(std::string_view event);

  // 'X' for "X", '\0' when there is none.
  char type() const { return phase.size() == 3 ? phase[1] : '\0'; }
  bool is_metadata() const { return type() == 'M'; }
  // Begin, step and end of a flow, and asynchronous events: joined by id alone.
  bool has_global_id() const;
};

struct EventArguments {
  std::string_view name;
  std::string_view labels;
  std::string_view sort_index;
  std::string_view step_num;
  std::string_view start_time_us;  // start_time_since_epoch_in_micros

  // `args` is the token of that name, or empty.
  explicit EventArguments(std::string_view args);
};

// Appends the members of `event` that say neither what it is nor when nor where, each as
// `, "key": value`, as written. `id` replaces the value of that name unless it is empty.
void append_other_members(std::string_view event, std::string_view id, std::string& out);

// The id of an event of trace number `trace` that differs from the ids of all other traces.
std::string unique_id(std::string_view token, std::size_t trace);

}  // namespace trainwatch
