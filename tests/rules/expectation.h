// SPDX-License-Identifier: Apache-2.0
// What a rule case expects: the lines that begin with "expect".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rules/words.h"
#include "trainwatch/result.h"
#include "trainwatch/verdict.h"

namespace trainwatch::cases {

// What the author called an event: "step 59", "tick 1001", "call 21".
struct Label {
  std::string kind;
  std::int64_t number = 0;

  bool operator==(const Label&) const = default;
};

inline std::string to_string(const Label& label) {
  return label.kind + " " + std::to_string(label.number);
}

// A value in the JSON of an alert, by its path: "evidence.period", "20".
struct Field {
  std::string path;
  std::string value;
};

struct Expectation {
  enum class Kind : std::uint8_t {
    at,        // an alert with all `fields` was emitted at the event `label`
    last,      // the last alert emitted has all `fields`
    nothing,   // no alert of severity `least` or above
    resolved,  // there was an alert, and every one is resolved at the end
    alerts,    // exactly `count` alerts
    missing,   // at the end the rule abstains for want of `input`
  };
  Kind kind = Kind::nothing;
  int line = 0;      // of the file
  std::string text;  // the line as it was written
  Label label;
  std::vector<Field> fields;
  Severity least = Severity::info;
  std::size_t count = 0;
  std::string input;
};

// "expect ...", without the number of the line.
Result<Expectation> read_expectation(const Words& words);

}  // namespace trainwatch::cases
