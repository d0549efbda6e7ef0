// SPDX-License-Identifier: Apache-2.0
// A rule case: parameters, a series of events in shorthand, and what is expected of the alerts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rules/expectation.h"
#include "rules/tensor_line.h"
#include "trainwatch/cycle_summary.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/result.h"
#include "trainwatch/rule.h"

namespace trainwatch::cases {

// What the lines of a case stand for.
struct Cycle {
  const CycleSummary* summary = nullptr;
};
struct SavedTensor {
  const Tensor* tensor = nullptr;
};
struct EndOfInput {};
using Input = std::variant<Span, Sample, SourceNote, Scalar, Tick, Cycle, SavedTensor, EndOfInput>;

struct Case {
  explicit Case(const RuleSpec& spec) : rule(spec) {}

  RuleConfig rule;
  Interner interner;
  // What Cycle and SavedTensor point to; copies of a case share them.
  std::vector<std::shared_ptr<const CycleSummary>> cycles;
  std::vector<std::shared_ptr<const OwnedTensor>> tensors;
  std::vector<Input> events;
  std::vector<Label> labels;  // one for each event
  std::vector<Expectation> expectations;
};

// Parses the text below a heading; its first line is number `first_line` of its file. An error
// starts with the number of the line: "12: cannot read 'weight 3'".
Result<Case> parse_case(std::string_view rule, std::string_view text, int first_line = 1);

}  // namespace trainwatch::cases
