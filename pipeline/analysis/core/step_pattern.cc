// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/step_pattern.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "trainwatch/stats/median.h"

namespace trainwatch::pace {
namespace {

constexpr std::int64_t kCompiles = 10;  // first iterations, which say nothing
constexpr std::int64_t kEarly = 60;     // iterations after which short periods are looked for
constexpr double kMostRest = 0.2;       // of the squares
constexpr double kLeastRange = 0.26;    // 1.3 times
constexpr double kRealigned = 0.5;      // of the misfit
constexpr double kFollows = 0.05;
constexpr double kMostFollowed = 0.15;
constexpr std::int64_t kRound = 50;  // steps: a checkpoint or an evaluation
constexpr std::int64_t kFew = 8;
constexpr double kMany = 2.2;        // 9 times
constexpr double kMostly = 0.5;      // of what a kind takes longer
constexpr double kLongerWait = 2.5;  // times as long
constexpr double kLeastWait = 0.04;  // of the step

double square(double value) {
  return value * value;
}

}  // namespace

bool StepPattern::add(double value, const Step& step) {
  if (period_ == 0 && added_ == kSearched) return false;  // all steps are of one kind
  if (values_.empty()) values_.resize(static_cast<std::size_t>(kSearched));
  values_[static_cast<std::size_t>(added_ % kSearched)] = static_cast<float>(value);
  ++added_;
  if (period_ != 0) return realign();
  outside_.push_back(static_cast<float>(to_seconds(step.between())));
  waits_.push_back(static_cast<float>(to_seconds(step.data_wait)));
  holds_computation_ = holds_computation_ || step.optimizer > Nanos{} ||
                       (step.origin == Origin::timeline && step.forward == Nanos{});
  if (added_ == kEarly) search(3);
  if (added_ == kSearched) search(2);
  const bool over = period_ != 0 || added_ == kSearched;
  if (over) outside_ = waits_ = std::vector<float>();
  if (over && period_ == 0) values_ = std::vector<float>();
  return period_ != 0;
}

double StepPattern::level(std::int64_t age) const {
  if (period_ == 0) return 0;
  return level_at(added_ - 1 - age + shift_);
}

double StepPattern::highest() const {
  if (period_ == 0) return 0;
  return static_cast<double>(*std::ranges::max_element(levels_));
}

void StepPattern::search(std::int64_t fewest_periods) {
  const std::int64_t longest = std::min(kLongest, (added_ - kCompiles) / fewest_periods);
  for (std::int64_t period = 2; period <= longest; ++period) {
    Fit found = fit(period);
    if (found.rest > kMostRest || !is_of_the_job(period, found)) continue;
    period_ = period;
    levels_ = std::move(found.levels);
    shift_ = 0;
    tried_ = added_;
    base_ = 0;
    for (std::int64_t age = 0; age < period; ++age) {
      base_ += (value(added_ - 1 - age) - level(age)) / static_cast<double>(period);
    }
    return;
  }
}

StepPattern::Fit StepPattern::fit(std::int64_t period) const {
  Fit found;
  found.levels.reserve(static_cast<std::size_t>(period));
  std::array<double, kSearched> values{};
  std::size_t count = 0;
  for (std::int64_t i = kCompiles; i < added_; ++i) values[count++] = value(i);
  const double middle = median_in(std::span(values).first(count));
  double all = 0;
  double rest = 0;
  double mean = 0;
  for (std::int64_t kind = 0; kind < period; ++kind) {
    count = 0;
    const std::int64_t first = kCompiles + (kind - kCompiles % period + period) % period;
    for (std::int64_t i = first; i < added_; i += period) values[count++] = value(i);
    const double level = median_in(std::span(values).first(count));
    for (std::int64_t i = first; i < added_; i += period) {
      all += square(value(i) - middle);
      rest += square(value(i) - level);
    }
    found.levels.push_back(static_cast<float>(level));
    mean += std::exp(level) / static_cast<double>(period);
  }
  found.rest = all > 0 ? rest / all : 1;
  for (float& level : found.levels) level -= static_cast<float>(std::log(mean));
  return found;
}

// A short period, or a power of two, is one of the job. With any other period, the slow steps may
// be checkpoints or evaluations: they are if their time lies outside the step, if the period is a
// round number, or if they are very long.
bool StepPattern::is_of_the_job(std::int64_t period, const Fit& fit) const {
  const auto [low, high] = std::ranges::minmax_element(fit.levels);
  const auto range = static_cast<double>(*high - *low);
  if (range < kLeastRange) return false;
  const auto slowest = std::ranges::max_element(fit.levels) - fit.levels.begin();
  if (is_held_up(period, slowest)) return false;
  if (period <= kFew || (period & (period - 1)) == 0) return true;
  if (period % kRound == 0) return false;
  if (!holds_computation_) return range <= kMany;
  double outside = 0;
  double extra = 0;
  for (std::int64_t i = kCompiles; i < added_; ++i) {
    if (i % period != slowest) continue;
    outside += static_cast<double>(outside_[static_cast<std::size_t>(i)]);
    extra += std::exp(value(i)) * (1 - std::exp(-range));
  }
  return outside < kMostly * extra;
}

// A kind of step that is longer by design does not wait longer for its data. If it does, something
// slows it down.
bool StepPattern::is_held_up(std::int64_t period, std::int64_t slowest) const {
  double slow_waits = 0;
  double other_waits = 0;
  double slow_count = 0;
  for (std::int64_t i = kCompiles; i < added_; ++i) {
    const auto wait = static_cast<double>(waits_[static_cast<std::size_t>(i)]);
    const bool slow = i % period == slowest;
    (slow ? slow_waits : other_waits) += wait;
    slow_count += slow ? 1 : 0;
  }
  const double others = static_cast<double>(added_ - kCompiles) - slow_count;
  const double usual = other_waits / std::max(others, 1.0);
  const double slow_wait = slow_waits / std::max(slow_count, 1.0);
  const double longest =
      std::exp(value(kCompiles + (slowest - kCompiles % period + period) % period));
  return slow_wait >= kLongerWait * usual && slow_wait >= kLeastWait * longest;
}

// An epoch that ends within a period, or a missing step, shifts the pattern.
bool StepPattern::realign() {
  const double range = highest() - static_cast<double>(*std::ranges::min_element(levels_));
  const double distance = value(added_ - 1) - level(0) - base_;
  base_ += kFollows * std::clamp(distance, -kMostFollowed, kMostFollowed);
  if (std::fabs(distance) < range / 2 || added_ < tried_ + period_ / 2) return false;
  tried_ = added_;
  const double misfit = misfit_of(shift_);
  std::int64_t best = shift_;
  double least = misfit;
  for (std::int64_t shift = 0; shift < period_; ++shift) {
    const double other = misfit_of(shift);
    if (other >= least) continue;
    least = other;
    best = shift;
  }
  if (least > kRealigned * misfit) return false;
  shift_ = best;
  return true;
}

// How far the last period is from the pattern, apart from a common offset.
double StepPattern::misfit_of(std::int64_t shift) const {
  double mean = 0;
  for (std::int64_t age = 0; age < period_; ++age) {
    mean += (value(added_ - 1 - age) - level_at(added_ - 1 - age + shift)) /
            static_cast<double>(period_);
  }
  double sum = 0;
  for (std::int64_t age = 0; age < period_; ++age) {
    sum += std::fabs(value(added_ - 1 - age) - level_at(added_ - 1 - age + shift) - mean);
  }
  return sum;
}

void StepPattern::state(StateIo& io) {
  io(values_);
  io(outside_);
  io(waits_);
  io(added_);
  io(period_);
  io(shift_);
  io(tried_);
  io(holds_computation_);
  io(base_);
  io(levels_);
  const auto finite = [](float value) { return std::isfinite(value); };
  const bool searches = period_ == 0 && added_ < kSearched;
  const std::size_t noted =
      searches ? static_cast<std::size_t>(std::max<std::int64_t>(added_, 0)) : 0;
  const bool keeps = period_ != 0 || (searches && added_ > 0);
  const bool possible =
      added_ >= 0 && period_ >= 0 && period_ <= kLongest && shift_ >= 0 &&
      (period_ == 0 || (shift_ < period_ && added_ >= kEarly)) && tried_ >= 0 &&
      std::isfinite(base_) && outside_.size() == noted && waits_.size() == noted &&
      std::cmp_equal(values_.size(), keeps ? kSearched : 0) &&
      std::cmp_equal(levels_.size(), period_) && std::ranges::all_of(values_, finite) &&
      std::ranges::all_of(outside_, finite) && std::ranges::all_of(waits_, finite) &&
      std::ranges::all_of(levels_, finite);
  if (!possible) io.fail();
}

}  // namespace trainwatch::pace
