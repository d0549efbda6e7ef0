// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/history/step_column.h"

#include <functional>
#include <utility>

namespace trainwatch {
namespace {

template <std::size_t kSize>
void add_each(std::array<double, kSize>& to, const std::array<double, kSize>& from) {
  std::ranges::transform(to, from, to.begin(), std::plus{});
}

}  // namespace

std::array<Nanos, kIterationParts> parts_of(const Step& step) {
  const std::pair<IterationPart, Nanos> known[] = {{IterationPart::data_wait, step.data_wait},
                                                   {IterationPart::between, step.between()},
                                                   {IterationPart::forward, step.forward},
                                                   {IterationPart::backward, step.backward},
                                                   {IterationPart::optimizer, step.optimizer}};
  std::array<Nanos, kIterationParts> parts{};
  Nanos left = std::max(step.iteration(), Nanos{});
  for (const auto& [part, most] : known) {
    const Nanos taken = std::clamp(most, Nanos{}, left);
    parts[static_cast<std::size_t>(part)] = taken;
    left -= taken;
  }
  parts[static_cast<std::size_t>(IterationPart::other)] = left;
  return parts;
}

StepFigures::StepFigures(const Step& step)
    : took(to_seconds(step.iteration())),
      parts(),
      evaluation(to_seconds(step.evaluation)),
      number(step.number),
      attempt(step.attempt) {
  std::ranges::transform(parts_of(step), parts.begin(),
                         [](Nanos part) { return to_seconds(part); });
}

void StepColumn::add(const StepFigures& step) {
  iterations.add(step.took);
  shortest = std::min(shortest, static_cast<float>(step.took));
  longest = std::max(longest, static_cast<float>(step.took));
  attempt = std::max(attempt, step.attempt);
  last_step = std::max(last_step, step.number);
  add_each(parts, step.parts);
  evaluation += step.evaluation;
}

void StepColumn::add_load(Nanos duration) {
  const double took = to_seconds(duration);
  ++loads;
  load_seconds += took;
  longest_load = std::max(longest_load, static_cast<float>(took));
}

void StepColumn::merge(const StepColumn& other) {
  iterations.merge(other.iterations);
  shortest = std::min(shortest, other.shortest);
  longest = std::max(longest, other.longest);
  attempt = std::max(attempt, other.attempt);
  last_step = std::max(last_step, other.last_step);
  add_each(parts, other.parts);
  evaluation += other.evaluation;
  loads += other.loads;
  load_seconds += other.load_seconds;
  longest_load = std::max(longest_load, other.longest_load);
}

}  // namespace trainwatch
