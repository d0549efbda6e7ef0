// A rule case: plain text with parameters, a series of events in shorthand, and what is expected.
// The format is described in tests/rules/README.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainwatch/alert.h"
#include "trainwatch/cycle_measure.h"
#include "trainwatch/event.h"
#include "trainwatch/result.h"
#include "trainwatch/rule.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch::cases {

// What the author called an event: "step 59", "tick 1001", "call 21".
struct Label {
  std::string kind;
  std::int64_t number = 0;

  bool operator==(const Label&) const = default;
};

// An alert as a case describes it; every part is optional.
struct Wanted {
  std::optional<Alert::State> state;
  std::optional<Severity> severity;
  std::vector<std::pair<std::string, std::string>> fields;  // anywhere in the alert's JSON
  std::string says;                                         // the summary
};

struct Expectation {
  enum class Kind : std::uint8_t {
    at,        // an alert like `wanted` was told at the event `label`
    last,      // the last alert told is like `wanted`
    nothing,   // no alert was told, or none at `wanted.severity` or above
    resolved,  // every alert is resolved at the end
    alerts,    // exactly `count` alerts
    missing,   // at the end the rule abstains for want of `input`
  };
  int line = 0;
  Kind kind = Kind::nothing;
  Label label;
  Wanted wanted;
  std::size_t count = 0;
  std::string input;
};

struct Case {
  std::optional<RuleConfig> rule;
  Vocabulary vocabulary;
  // What the events of kind Cycle point to; copies of a case share them.
  std::vector<std::shared_ptr<const CycleMeasure>> cycles;
  std::vector<Event> events;
  std::vector<Label> labels;  // one for each event
  std::vector<Expectation> expectations;
};

// The error names the line.
Result<Case> parse_case(std::string_view text);

}  // namespace trainwatch::cases
