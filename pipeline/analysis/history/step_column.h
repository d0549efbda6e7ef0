// SPDX-License-Identifier: Apache-2.0
// The training of a job during one interval: its iterations, and what they consist of. Sums are
// over all ranks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>

#include "trainwatch/event.h"
#include "trainwatch/stats/distribution.h"

namespace trainwatch {

// What an iteration consists of. `other` is in the step, but in none of its phases; `between` is
// neither in the step nor in the wait.
enum class IterationPart : std::uint8_t {
  data_wait,
  forward,
  backward,
  optimizer,
  other,
  between,
  count_
};
inline constexpr std::size_t kIterationParts = static_cast<std::size_t>(IterationPart::count_);

inline std::string_view to_string(IterationPart part) {
  constexpr std::string_view kNames[] = {"data_wait", "forward", "backward",
                                         "optimizer", "other",   "between"};
  static_assert(std::size(kNames) == kIterationParts);
  return kNames[static_cast<std::size_t>(part)];
}

// The parts of the iteration that this step ends; they add up to it. Phases that overlap, as those
// of pipelined stages do, are cut where the step is full.
std::array<Nanos, kIterationParts> parts_of(const Step& step);

// What a step adds to each of the columns that it lies in.
struct StepFigures {
  explicit StepFigures(const Step& step);

  double took;                                // seconds, of an iteration
  std::array<double, kIterationParts> parts;  // seconds
  double evaluation;                          // seconds
  std::int64_t number;
  std::uint32_t attempt;
};

struct StepColumn {
  LogHistogram iterations;  // their seconds, at most LogHistogram::kError off
  float shortest = std::numeric_limits<float>::infinity();  // seconds, exactly
  float longest = 0;
  std::uint32_t attempt = 0;  // the latest
  std::int64_t last_step = kNoStep;
  std::array<double, kIterationParts> parts{};  // seconds
  double evaluation = 0;                        // seconds, not part of iterations
  std::uint64_t loads = 0;                      // calls for the next batch
  double load_seconds = 0;
  float longest_load = 0;

  void add(const StepFigures& step);
  void add_load(Nanos duration);
  void merge(const StepColumn& other);
};

}  // namespace trainwatch
