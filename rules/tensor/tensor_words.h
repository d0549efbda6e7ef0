// SPDX-License-Identifier: Apache-2.0
// What rules on tensors say: one alert for all tensors of a rank that a rule finds wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "trainwatch/event.h"
#include "trainwatch/verdict.h"

namespace trainwatch {

// The words of one kind of finding, of which a rule has one or a few.
struct TensorPhrases {
  std::string_view pattern = "";  // in evidence: "large"
  std::string_view one = "";      // behind a tensor: "has vanished"
  std::string_view many = "";     // behind several: "have vanished"
  std::string_view figure;        // what the value is: "mean absolute value"
  std::string_view unit = "";
  std::string_view next = "";
  std::string_view thing = "tensor";  // "loss"
};

// A tensor that a rule finds wrong, as of its latest evaluation.
struct TensorFinding {
  std::string_view name;
  Mode mode = Mode::global;
  std::int64_t step = kNoStep;
  std::int64_t first_step = kNoStep;  // since when
  Time since{};
  double value = 0;
  double threshold = 0;
};

// `first` are the few that are named, the one that was wrong first in front; `bad` of `judged`
// tensors are wrong.
Verdict describe_tensors(const TensorPhrases& phrases, std::span<const TensorFinding> first,
                         std::size_t bad, std::size_t judged);

}  // namespace trainwatch
