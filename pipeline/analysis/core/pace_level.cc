// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/pace_level.h"

#include <algorithm>
#include <cmath>

namespace trainwatch::pace {
namespace {

constexpr double kWeight = 1.0 / 300;
constexpr double kWanderWeight = 1.0 / 15;
constexpr std::int64_t kFewestMeans = 3;
constexpr double kLeastMean = 0.1;

}  // namespace

void Chart::add(double distance, const Step& at) {
  if (count == 0 && distance <= 0) return;
  if (count == 0) {
    since = at.begin;
    step = at.number;
  }
  ++count;
  sum += distance;
  if (sum <= 0) *this = Chart{};
}

void Level::add(double value) {
  ++count;
  const double weight = std::max(1 / count, kWeight);
  const double distance = value - mean;
  mean += weight * distance;
  variance = (1 - weight) * (variance + weight * distance * distance);
}

double Level::deviation() const {
  return std::max(std::sqrt(variance), kLeastSigma);
}

void Wander::add(double value, double level) {
  sum += value;
  if (++count < kFewest) return;
  if (holds) add_mean(held);
  held = sum / static_cast<double>(count) - level;
  holds = true;
  sum = 0;
  count = 0;
}

void Wander::forget_latest() {
  sum = held = 0;
  count = 0;
  holds = false;
}

void Wander::add_mean(double distance) {
  const double most = std::max(3 * std::sqrt(variance), kLeastMean);
  const double cut = std::clamp(distance, -most, most);
  const double weight = std::max(1 / static_cast<double>(++means), kWanderWeight);
  variance += weight * (cut * cut - variance);
}

// Beyond what the means of independent iterations have, with room for its own uncertainty. Few
// means say little.
double Wander::deviation(double of_one) const {
  constexpr double kRoom = 2;
  const double independent = kRoom * of_one * of_one / static_cast<double>(kFewest);
  return means < kFewestMeans ? 0 : std::sqrt(std::max(variance - independent, 0.0));
}

bool Best::add(double value, const Step& latest) {
  sum += value;
  if (++count < kBlock) return false;
  const double mean = sum / static_cast<double>(count);
  const double slower = std::max(mean, before);
  sustained = std::min(mean, before);
  if (blocks > 0) largest_rise = std::max(largest_rise, mean - before);
  if (blocks > 0 && (blocks == 1 || slower < best)) {
    largest_rise = 0;
    best = slower;
    at = latest.end();
    step = latest.number;
  }
  before = mean;
  ++blocks;
  sum = 0;
  count = 0;
  return true;
}

void Chart::state(StateIo& io) {
  io(sum);
  io(count);
  io(since);
  io(step);
  if (!(sum >= 0) || count < 0) io.fail();
}

void Level::state(StateIo& io) {
  io(mean);
  io(variance);
  io(count);
  if (!std::isfinite(mean) || !(variance >= 0) || !(count >= 0)) io.fail();
}

void Wander::state(StateIo& io) {
  io(sum);
  io(held);
  io(holds);
  io(count);
  io(means);
  io(variance);
  if (!std::isfinite(sum) || !std::isfinite(held) || count < 0 || count >= kFewest || means < 0 ||
      !(variance >= 0)) {
    io.fail();
  }
}

void Best::state(StateIo& io) {
  io(sum);
  io(count);
  io(before);
  io(sustained);
  io(best);
  io(blocks);
  io(largest_rise);
  io(at);
  io(step);
  if (count < 0 || count >= kBlock || blocks < 0) io.fail();
}

}  // namespace trainwatch::pace
