// What a rule says. A rule judges; it does not know what an alert is, whether one is open, or who
// hears of it. The alert book (pipeline/engine/alert_book.h) makes alerts of verdicts.
#pragma once

#include <cstdint>
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
};

std::string_view to_string(CauseName name);  // pipeline/engine/alert_json.cc

struct Cause {
  CauseName name = CauseName::unattributed;
  double coverage = 0;               // share of the lost time that this cause explains, 0..1
  std::string explanation;           // one sentence; empty when unattributed
  std::vector<std::string> missing;  // inputs that would be needed: "gpu samples"

  bool operator==(const Cause&) const = default;

  void state(StateIo& io) {
    io(name);
    io(coverage);
    io(explanation);
    io(missing);
  }
};

struct Verdict {
  enum class State : std::uint8_t {
    firing,  // the condition holds; repeated while an episode lasts, with fresher content
    ok,      // the condition is over; ends the episode
  };

  State state = State::firing;
  Severity severity = Severity::warning;
  Time at{};  // event time of what completed the condition
  // The interval whose time was lost, for finding the cause in other streams; empty when the rule
  // has no such interval.
  Time window_start{};
  Time window_end{};
  // Distinguishes episodes that one instance of a rule may have open side by side ("train",
  // "gpu0 fluctuating"). Part of the alert id.
  std::string key;
  // Whom it is about, where that is narrower than what the rule looks after: one rank of a job.
  SubjectId subject = SubjectId::none;
  std::int64_t step = kNoStep;
  double value = 0;
  double threshold = 0;
  double baseline = 0;
  std::string unit;      // "seconds", "percent", "ratio"
  std::string summary;   // one sentence with the numbers in it
  Cause cause;           // what the rule itself can tell; the engine may refine it
  std::string evidence;  // a JSON object, at most 3 KB
  std::string next;      // what to do about it, one sentence

  void save(StateIo& io) {
    io(state);
    io(severity);
    io(at);
    io(window_start);
    io(window_end);
    io(key);
    io(subject);
    io(step);
    io(value);
    io(threshold);
    io(baseline);
    io(unit);
    io(summary);
    io(cause);
    io(evidence);
    io(next);
  }
};

}  // namespace trainwatch
