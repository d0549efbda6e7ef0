// SPDX-License-Identifier: Apache-2.0
// An alert for somebody at a terminal: a few lines instead of the JSON object, from which it is
// made, so that live alerts, those of a stream and those of a replay look alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/terminal/text_style.h"
#include "trainwatch/result.h"
#include "trainwatch/time.h"
#include "trainwatch/verdict.h"

namespace trainwatch {

struct ShownAlert {
  std::string id;
  std::string rule;
  bool resolved = false;
  bool part = false;         // another alert speaks for it
  bool provisional = false;  // not stored yet
  Severity severity = Severity::info;
  Time since = kNoTime;  // when what it is about began
  Time started = kNoTime;
  Time ended = kNoTime;
  std::string ended_because;
  std::string place;  // "ranks 0-7 of bert"; empty: nowhere in particular
  std::string summary;
  std::string cause;  // a sentence, with how much it explains
  std::string next;
};

// What lasts no longer is over when its first line is read.
inline constexpr Nanos kBrief = std::chrono::seconds(10);

// An Error for what is no alert.
Result<ShownAlert> shown_alert(std::string_view json);

// After how long it was over, and why: "12 s; recovered".
std::string end_of(const ShownAlert& alert);

// Its lines, each ended by a newline and at most `style.width` wide: how severe, since when, where,
// what, why, what to do; of one that is over the first two. The severity is a word; colour only
// repeats it.
std::string text_of(const ShownAlert& alert, const TextStyle& style, Time now);

// The same of an alert whose end, if it has one, is known when it is first shown: all lines, and
// how long it lasted.
std::string past_text_of(const ShownAlert& alert, const TextStyle& style, Time now);

}  // namespace trainwatch
