// SPDX-License-Identifier: Apache-2.0
// From steps to times, as in SageMaker's readers: from the beginning of the first event of step S
// until just before the first event of step E.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "pipeline/timeline/timeline_event.h"

namespace trainwatch {

class StepWindow {
 public:
  // nullopt: unbounded.
  StepWindow(std::optional<std::int64_t> start, std::optional<std::int64_t> end)
      : start_(start), end_(end) {}

  // An event of this step; any order.
  void saw(std::int64_t step, std::int64_t start_ns) {
    seen_ = true;
    if (start_) from_.saw(step, *start_, start_ns);
    if (end_) to_.saw(step, *end_, start_ns);
  }

  // nullopt: there are no such steps. A step that was not recorded begins with the next one that
  // was.
  std::optional<TimeWindow> window() const {
    TimeWindow window;
    if (!seen_) return std::nullopt;
    if (start_ && !from_.begin()) return std::nullopt;
    if (start_) window.from_ns = *from_.begin();
    if (const auto end = to_.begin(); end_ && end) window.to_ns = *end - kMicrosecond;
    return window;
  }

 private:
  static constexpr std::int64_t kMicrosecond = 1000;

  struct Bound {
    std::optional<std::int64_t> at;     // of that step
    std::optional<std::int64_t> after;  // of any later one

    void saw(std::int64_t step, std::int64_t wanted, std::int64_t start_ns) {
      if (step < wanted) return;
      std::optional<std::int64_t>& first = step == wanted ? at : after;
      if (!first || start_ns < *first) first = start_ns;
    }
    std::optional<std::int64_t> begin() const { return at ? at : after; }
  };

  std::optional<std::int64_t> start_;
  std::optional<std::int64_t> end_;
  bool seen_ = false;
  Bound from_;
  Bound to_;
};

}  // namespace trainwatch
