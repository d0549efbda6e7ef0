// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/recent_iterations.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace trainwatch::pace {
namespace {

constexpr std::int64_t kFewestSince = 5;

}  // namespace

double RecentIterations::median(std::size_t newest) const {
  const std::size_t count = std::min(newest, static_cast<std::size_t>(added_));
  std::array<float, kMost> values{};
  for (std::size_t age = 0; age < count; ++age) values[age] = at(age);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(values.begin(), middle, values.begin() + static_cast<std::ptrdiff_t>(count));
  return static_cast<double>(*middle);
}

double RecentIterations::mean(std::size_t newest) const {
  const std::size_t count = std::min({newest, static_cast<std::size_t>(added_), kMost});
  double sum = 0;
  for (std::size_t age = 0; age < count; ++age) sum += value(age);
  return sum / static_cast<double>(std::max<std::size_t>(count, 1));
}

bool RecentIterations::median_is_within(double most, std::size_t newest) const {
  const std::size_t count = std::min(newest, static_cast<std::size_t>(added_));
  std::size_t within = 0;
  for (std::size_t age = 0; age < count; ++age) within += value(age) <= most ? 1 : 0;
  return within > count / 2;
}

std::int64_t RecentIterations::since_rise(std::int64_t newest, double most) const {
  const std::int64_t count = std::min<std::int64_t>(newest, kMost);
  if (count < 2 * kFewestSince) return 0;
  const auto capped = [&](std::int64_t age) {
    return std::min(value(static_cast<std::size_t>(age)), most);
  };
  double all = 0;
  for (std::int64_t age = 0; age < count; ++age) all += capped(age);
  double best = 0;
  double since = 0;
  std::int64_t found = 0;
  for (std::int64_t age = 0; age + kFewestSince < count; ++age) {
    since += capped(age);
    const auto after = static_cast<double>(age + 1);
    const double before = static_cast<double>(count) - after;
    const double rise = since / after - (all - since) / before;
    const double explained = rise > 0 ? rise * rise * after * before : 0;  // variance
    if (age + 1 < kFewestSince || explained <= best) continue;
    best = explained;
    found = age + 1;
  }
  return found;
}

void RecentIterations::state(StateIo& io) {
  io(values_);
  io(added_);
  const auto finite = [](float value) { return std::isfinite(value); };
  if (!std::ranges::all_of(values_, finite) || added_ < 0) io.fail();
}

}  // namespace trainwatch::pace
