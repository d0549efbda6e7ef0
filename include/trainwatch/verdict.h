// SPDX-License-Identifier: Apache-2.0
// What a rule reports. A rule does not know what an alert is, whether one is open, or who receives
// it. The alert book (pipeline/engine/alert_book.h) makes alerts of verdicts.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/subject.h"
#include "trainwatch/time.h"

namespace trainwatch {

enum class Severity : std::uint8_t { info, warning, critical };

inline std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::critical:
      return "critical";
  }
  return "info";
}

enum class CauseName : std::uint8_t {
  unattributed,
  input_wait,
  cpu_saturation,
  io_wait,
  host_pause,
  kernel_launch,
  communication,
  straggler,
  gpu_slowdown,
  compute_growth,
  memory_copy,
  synchronization,
  evaluation,
  checkpoint,
  memory_creep,
  collective_hang,
  garbage_collection,
  recompilation,
};

inline std::string_view to_string(CauseName name) {
  constexpr std::string_view kNames[] = {
      "unattributed",    "input_wait",         "cpu_saturation", "io_wait",      "host_pause",
      "kernel_launch",   "communication",      "straggler",      "gpu_slowdown", "compute_growth",
      "memory_copy",     "synchronization",    "evaluation",     "checkpoint",   "memory_creep",
      "collective_hang", "garbage_collection", "recompilation"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(CauseName::recompilation) + 1);
  return kNames[static_cast<std::size_t>(name)];
}

struct Cause {
  CauseName name = CauseName::unattributed;
  double coverage = 0;               // share of the lost time that this cause explains, 0..1
  std::string explanation;           // one sentence; empty when unattributed
  std::vector<std::string> missing;  // inputs that would be needed: "gpu samples"

  bool operator==(const Cause&) const = default;
};

// The content of an alert.
struct Verdict {
  // As in the Condition that it describes (condition.h), which fills these in.
  std::string key;
  Time at{};
  Severity severity = Severity::warning;
  bool provisional = false;
  // The interval whose time was lost, for finding the cause in other inputs; empty if the rule has
  // no such interval.
  Time window_start{};
  Time window_end{};
  Time since = kNoTime;            // when what it is about began; kNoTime: when it opened
  double window_lost_seconds = 0;  // lost in the window; 0: all of it
  // The subject, if narrower than that of the instance: one rank of a job.
  SubjectId subject = SubjectId::none;
  std::int64_t step = kNoStep;
  // `at` may depend on when a file was read, so the step identifies the alert instead. Not saved.
  bool by_step = false;
  std::uint32_t attempt = 0;  // of the rank's training, see Step; 0: not about one
  double value = 0;
  double threshold = 0;
  double baseline = 0;
  double lost_seconds = 0;  // of training, by all that the alert is about so far
  std::string unit;         // "seconds", "percent", "ratio"
  std::string summary;      // one sentence with the numbers in it
  Cause cause;              // what the rule itself knows; the engine may refine it
  CauseName own_cause = CauseName::unattributed;  // before it did
  std::string evidence;                           // a JSON object, at most 3 KB
  std::string next;                               // what to do about it, one sentence

  void state(StateIo& io) {
    io(key);
    io(at);
    io(severity);
    io(provisional);
    io(window_start);
    io(window_end);
    io(since);
    io(window_lost_seconds);
    io(subject);
    io(step);
    io(attempt);
    io(value);
    io(threshold);
    io(baseline);
    io(lost_seconds);
    io(unit);
    io(summary);
    io(cause);
    io(own_cause);
    io(evidence);
    io(next);
  }
};

}  // namespace trainwatch
