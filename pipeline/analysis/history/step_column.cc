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
  std::array<Nanos, kIterationParts> parts{};
  Nanos left = step.iteration();
  const auto take = [&](IterationPart part, Nanos most) {
    const Nanos taken = std::clamp(most, Nanos{}, std::max(left, Nanos{}));
    parts[static_cast<std::size_t>(part)] = taken;
    left -= taken;
  };
  take(IterationPart::data_wait, step.data_wait);
  take(IterationPart::between, step.between());
  take(IterationPart::forward, step.forward);
  take(IterationPart::backward, step.backward);
  take(IterationPart::optimizer, step.optimizer);
  take(IterationPart::other, left);
  return parts;
}

void StepColumn::add(const Step& step) {
  const double took = to_seconds(step.iteration());
  iterations.add(took);
  shortest = std::min(shortest, static_cast<float>(took));
  longest = std::max(longest, static_cast<float>(took));
  attempt = std::max(attempt, step.attempt);
  last_step = std::max(last_step, step.number);
  elapsed += took * step.steps;
  const auto of_step = parts_of(step);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] += to_seconds(of_step[i]);
  evaluation += to_seconds(step.evaluation);
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
  elapsed += other.elapsed;
  add_each(parts, other.parts);
  add_each(lost, other.lost);
  evaluation += other.evaluation;
  loads += other.loads;
  load_seconds += other.load_seconds;
  longest_load = std::max(longest_load, other.longest_load);
}

}  // namespace trainwatch
