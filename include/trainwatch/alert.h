// SPDX-License-Identifier: Apache-2.0
// An alert as users see it: documented in docs/alerts.md, the same object in every output.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "trainwatch/subject.h"
#include "trainwatch/time.h"
#include "trainwatch/verdict.h"

namespace trainwatch {

// Why an alert is over.
enum class EndedBecause : std::uint8_t {
  recovered,
  run_ended,     // the writer closed its timeline
  run_gone,      // nothing more came: its process is gone, or a day has passed
  restarted,     // the rank began to train anew
  reconfigured,  // the rule was changed or switched off
};

inline std::string_view to_string(EndedBecause why) {
  constexpr std::string_view kNames[] = {"recovered", "run_ended", "run_gone", "restarted",
                                         "reconfigured"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(EndedBecause::reconfigured) + 1);
  return kNames[static_cast<std::size_t>(why)];
}

struct Alert {
  enum class State : std::uint8_t { firing, resolved };

  std::string id;         // 32 hex digits; a function of configuration and file bytes only
  std::uint64_t seq = 0;  // position in the stream of published alerts; 0: not published yet
  State state = State::firing;
  std::string rule;
  Severity severity = Severity::warning;
  Severity reached = Severity::info;  // the highest so far
  Time started_at{};                  // event times
  Time updated_at{};
  Time ended_at = kNoTime;
  EndedBecause ended_because = EndedBecause::recovered;  // once it is resolved
  Subject subject;
  std::uint32_t attempt = 0;  // in which it opened, see Verdict
  std::uint64_t count = 1;    // how often the condition was seen in this episode
  std::string incident;       // id of the alert that speaks for this one, or its own
  std::string ranks;          // those concerned, if it speaks for several: "0-3"
  bool spoke = false;         // it was emitted while it spoke for itself
  Verdict verdict;            // the latest content

  // When what it is about began, which may be before it opened.
  Time began() const { return verdict.since == kNoTime ? started_at : verdict.since; }
  // Another one speaks for it, and always has: reported only to who asks for parts.
  bool is_part() const { return !incident.empty() && incident != id && !spoke; }

  // Saves or loads. Not named state(), as that is a field here.
  void persist(StateIo& io) {
    io(id);
    io(seq);
    io(state);
    io(rule);
    io(severity);
    io(reached);
    io(started_at);
    io(updated_at);
    io(ended_at);
    io(ended_because);
    io(subject);
    io(attempt);
    io(count);
    io(incident);
    io(ranks);
    io(spoke);
    io(verdict);
    if (ended_because > EndedBecause::reconfigured) io.fail();
  }
};

}  // namespace trainwatch
