// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/held_steps.h"

#include <algorithm>
#include <utility>

namespace trainwatch {
namespace {

constexpr double kMostSteps = 1e9;    // that one record stands for
constexpr double kMostSeconds = 1e8;  // that they take

bool may_merge(const Step& first, const Step& second) {
  const double steps = static_cast<double>(first.steps) + second.steps;
  const double longest = std::max(to_seconds(first.duration), to_seconds(second.duration));
  return !second.opens_attempt && first.attempt == second.attempt && steps <= kMostSteps &&
         steps * longest <= kMostSeconds;
}

// A mean over the steps of both.
Nanos mean(Nanos a, std::uint32_t of_a, Nanos b, std::uint32_t of_b) {
  const double sum = to_seconds(a) * of_a + to_seconds(b) * of_b;
  return from_seconds(sum / (static_cast<double>(of_a) + of_b));
}

Step merged(const Step& first, const Step& second) {
  Step both = first;
  both.number = second.number;
  both.duration = mean(first.duration, first.steps, second.duration, second.steps);
  both.data_wait = mean(first.data_wait, first.steps, second.data_wait, second.steps);
  both.steps = first.steps + second.steps;
  return both;
}

}  // namespace

void HeldSteps::add(Step step, Time latest, std::size_t most) {
  if (held_.size() >= most) merge(most);
  held_.push_back({step, latest});
}

// Attempts of a single record each are too many to keep: the first ones are given up.
void HeldSteps::merge(std::size_t most) {
  std::vector<Held> fewer;
  for (const Held& held : held_) {
    const bool pairs = fewer.size() % 2 == 1;
    if (pairs && may_merge(fewer.back().step, held.step)) {
      fewer.back() = {merged(fewer.back().step, held.step), held.latest};
    } else {
      fewer.push_back(held);
    }
  }
  if (fewer.size() >= most) {
    fewer.erase(fewer.begin(), fewer.begin() + static_cast<std::ptrdiff_t>(fewer.size() / 2));
  }
  held_ = std::move(fewer);
}

void HeldSteps::waited(std::int64_t number, Nanos wait) {
  if (held_.empty() || held_.back().step.number != number) return;
  Step& step = held_.back().step;
  step.data_wait = std::min(wait, step.duration);
}

std::vector<Step> HeldSteps::take(Time earliest) {
  std::vector<Step> placed(held_.size());
  Time next = Time::max();  // when the one behind it began
  for (std::size_t i = held_.size(); i-- > 0;) {
    Step step = held_[i].step;
    const Nanos interval = step.duration * step.steps;
    const Time latest = std::max(held_[i].latest, Time{});
    Time end = std::min(next, latest);
    next = end - std::min(interval, end - Time{});
    end = std::max(end, std::min(earliest, latest));
    end = std::max(end, Time{} + interval);  // it began in 1970 at the earliest
    step.start = step.begin = end - step.duration;
    step.estimated = true;
    placed[i] = step;
  }
  held_.clear();
  return placed;
}

void HeldSteps::Held::state(StateIo& io) {
  io(step);
  io(latest);
  if (!is_possible(latest) || step.duration < Nanos{} || step.steps == 0) io.fail();
}

void HeldSteps::state(StateIo& io) {
  io(held_);
}

}  // namespace trainwatch
