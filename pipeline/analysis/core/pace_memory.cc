// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/pace_memory.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace trainwatch {

using pace::Chart;
using pace::kBlock;
using pace::kFewest;
using pace::kLeastSigma;
using pace::Level;

namespace {

constexpr double kShortest = 1e-6;  // seconds; a logarithm needs one
constexpr double kSigmas = 6;
constexpr double kTail = 0.95;
constexpr double kRarity = 15.4;  // ln((1 - kTail) / 1e-8) mean excesses above the tail's beginning
constexpr double kBeyondSeen = 1.2;    // 3.3 times the longest
constexpr double kBeyondOften = 1.6;   // 5 times the longest but a few
constexpr double kLongestHabit = 900;  // seconds

constexpr double kSmallChange = 0.08;   // 8 %: what is called a change at all
constexpr double kLargeChange = 0.4;    // 1.5 times
constexpr std::int64_t kBriefly = 100;  // iterations
constexpr std::int64_t kMostMeans = 3;
constexpr double kWanders = 3;  // times its deviation, a mean may be off
constexpr std::int64_t kBetter =
    100;                         // iterations that make a better level the one to compare with
constexpr double kCreep = 0.13;  // 1.14 times the best sustained level
constexpr double kHighStairs = 0.3;
constexpr double kStair = 0.045;   // from 50 iterations to the next
constexpr double kResumed = 0.28;  // 1.32 times the level before the training was started again
constexpr double kWorkSlowly = 1.0 / 300;
constexpr double kWorkQuickly = 1.0 / 15;
constexpr double kWorkError = 0.4;
constexpr double kLevelKnown = 10;  // iterations
constexpr double kSteadySeconds = 60;
constexpr double kSteadyRange = 0.3;  // 1.35 times
constexpr double kVeryUnusual = 0.5;
constexpr double kUnusual = 0.15;   // an iteration so far off says no more about the level
constexpr double kBack = 0.049;     // within 5 % of the level before
constexpr double kUncertain = 4.5;  // standard errors of the mean
constexpr double kRun = 18.4;       // ln(1e8): a false change once in so many iterations
constexpr std::int64_t kMostRecovery = 200;

// The sum at which a chart is certain: a false one comes once in exp(kRun) iterations, and a few
// unusual ones do not suffice.
double needed(double deviation, double slack, double most) {
  return std::max(deviation * deviation * kRun / (2 * slack), 8 * (most - slack));
}

}  // namespace

Pace PaceMemory::add(const Step& step, double work) {
  if (step.opens_attempt) {
    began_ = step.begin;
    first_step_ = step.number;
    return {};
  }
  const double seconds = std::max(to_seconds(step.iteration()), kShortest);
  const double log_work = work == 1 ? 0 : std::log(work);
  const double value = with_work(std::log(seconds), log_work);
  const std::int64_t warm = step.origin == Origin::timeline ? kWarm : kWarmRecord;
  Pace pace = judge(warm, work);
  if (step.opens_epoch) {  // not like the others, and no evidence of anything
    describe_level(pace);
    return pace;
  }
  if (log_work != 0 || work_recent_ != 0) {
    work_level_ += kWorkSlowly * (log_work - work_level_);
    work_recent_ += kWorkQuickly * (log_work - work_recent_);
  }
  const bool other_pattern = pattern_.add(value, step);
  const double of_kind = value - pattern_.level(0);
  recent_.add(of_kind);
  if (other_pattern) follow_pattern();
  note_longest(seconds + to_seconds(step.evaluation));
  ++level_age_;
  remember(of_kind, pace.warm() ? std::log(pace.limit / pace.scale) : of_kind);
  if (recent_.added() == 2 * warm) {  // what came before may have compiled
    longest_ = second_longest_ = 0;
    restart_level(static_cast<std::size_t>(warm));
    compare_with_before();
  } else if (recent_.added() > 2 * warm) {
    watch_level(of_kind, step);
  } else if (!steady_ && becomes_steady()) {
    steady_ = true;
    restart_level(static_cast<std::size_t>(kSteady));
  }
  describe_level(pace);
  return pace;
}

// The time that it would take with the usual work. Less work in the usual time does not count as
// slower: the reason may be anything.
double PaceMemory::with_work(double value, double work) const {
  if (work >= 0) return value - work;
  const bool known = level_.count >= kLevelKnown;
  if (!known && !started_again_) return value - work;
  const double level = known ? level_.mean : before_;
  return std::min(value - work, std::max(value, level + pattern_.level(-1)));
}

void PaceMemory::begin_attempt() {
  double before = before_;
  const bool known = level_.count >= kLevelKnown;
  if (known) before = reference_ > 0 ? std::log(reference_) : level_.mean;
  const bool again = known || started_again_;
  const std::int64_t first = first_step_;
  *this = PaceMemory{};
  first_before_ = first;
  before_ = before;
  started_again_ = again;
}

// Few iterations are enough if they took a minute in total and are similar.
bool PaceMemory::becomes_steady() const {
  if (recent_.added() < kSteady) return false;
  double seconds = 0;
  double least = recent_.value(0);
  double most = least;
  for (std::size_t age = 0; age < static_cast<std::size_t>(kSteady); ++age) {
    seconds += std::exp(recent_.value(age));
    least = std::min(least, recent_.value(age));
    most = std::max(most, recent_.value(age));
  }
  return seconds >= kSteadySeconds && most - least <= kSteadyRange;
}

// The pattern has changed: recomputes the recent iterations and the level without it.
void PaceMemory::follow_pattern() {
  const auto known = static_cast<std::size_t>(
      std::min<std::int64_t>(recent_.added(), pace::RecentIterations::kMost));
  for (std::size_t age = 0; age < known; ++age) {
    const auto ago = static_cast<std::int64_t>(age);
    recent_.replace(age, pattern_.value(pattern_.added() - 1 - ago) - pattern_.level(ago));
  }
  if (reference_ == 0) restart_level(kNewest);
}

// The middle of the last iterations. With a pattern, the mean of whole periods, as only one of the
// kinds may have changed.
double PaceMemory::middle(std::size_t newest) const {
  const auto period = static_cast<std::size_t>(pattern_.period());
  if (period == 0) return recent_.median(newest);
  return recent_.mean((newest + period - 1) / period * period);
}

double PaceMemory::recent_seconds() const {
  constexpr std::size_t kFew = 10;
  const auto period = static_cast<std::size_t>(pattern_.period());
  if (period == 0) return std::exp(recent_.median(kFew));
  const std::size_t count = (kFew + period - 1) / period * period;
  double sum = 0;
  for (std::size_t age = 0; age < count; ++age) {
    sum += std::exp(recent_.value(age) + pattern_.level(static_cast<std::int64_t>(age)));
  }
  return sum / static_cast<double>(count);
}

void PaceMemory::compare_with_before() {
  if (!std::exchange(started_again_, false)) return;
  // From its first step on, it may be another trial.
  if (first_step_ != kNoStep && first_before_ != kNoStep && first_step_ <= first_before_) return;
  const double rise = level_.mean - before_;
  if (rise < kResumed) return;
  reference_ = std::exp(before_);
  changed_at_ = began_;
  changed_step_ = first_step_;
  rise_step_ = kNoStep;
  rise_ = std::exp(rise);
  took_ = recent_.added();
  slow_for_ = recent_.added();
  recovered_ = 0;
}

void PaceMemory::describe_level(Pace& pace) const {
  pace.recent = reference_ > 0 ? recent_seconds() : 0;
  pace.reference = reference_;
  pace.changed_at = changed_at_;
  pace.changed_step = changed_step_;
  pace.rise_step = rise_step_;
  pace.rise = rise_;
}

Pace PaceMemory::judge(std::int64_t warm, double work) const {
  Pace pace;
  const double kind = pattern_.level(-1);
  pace.scale = kind == 0 ? work : std::exp(kind) * work;
  if (std::cmp_less(logs_.size(), steady_ ? kSteady : warm)) return pace;
  const double median = logs_.median();
  if (median <= std::log(2 * kShortest)) return pace;  // the writer gives no durations
  pace.sigma = std::max(kSigmaPerMad * logs_.mad(), kLeastSigma);
  pace.usual = std::exp(median) * pace.scale;
  const double highest = pattern_.highest();
  double limit = limit_of(median, pace.sigma) + kind;
  // An iteration that is as long as the slowest kind may be of that kind.
  if (highest > 0) limit = std::max(limit, median + highest + kSigmas * pace.sigma);
  pace.limit = std::exp(std::min(limit, 600.0)) * work;
  const double longest = std::exp(logs_.largest() + highest) * work;
  pace.longest = std::max({pace.usual, longest, second_longest_});
  return pace;
}

// Beyond it lies one in 10^8 iterations.
double PaceMemory::limit_of(double median, double sigma) const {
  const std::size_t count = logs_.size();
  const auto begin = static_cast<std::size_t>(kTail * static_cast<double>(count - 1));
  const double begins = logs_.at_rank(begin);
  // The longest 1 % may be stalls or checkpoints, and count as the next longest; of an exponential
  // tail, the mean then lacks their share.
  const std::size_t above = count - begin - 1;
  const std::size_t left_out = above / 5;
  const double most = logs_.at_rank(count - 1 - left_out);
  double excess = 0;
  for (std::size_t i = begin + 1; i < count; ++i) {
    excess += std::min(logs_.at_rank(i), most) - begins;
  }
  const auto counted = static_cast<double>(above - left_out);
  // The fewer are known, the less certain is their mean.
  const double mean = excess / counted * (1 + 1 / std::sqrt(static_cast<double>(above)));
  // A tail of two or three sizes is not exponential: not far beyond what was seen, and what was
  // seen only once or twice is no tail.
  const double seen = std::min(logs_.largest() + kBeyondSeen, most + kBeyondOften);
  const double tail = std::min(begins + std::max(kRarity * mean, kSigmas * sigma), seen);
  return std::max(median + kSigmas * sigma, tail);
}

void PaceMemory::remember(double value, double limit) {
  logs_.push(std::min(value, limit));
  // Later, so that what may be a change does not hide itself.
  if (level_age_ <= kDelay) return;
  const double delayed = recent_.value(static_cast<std::size_t>(kDelay));
  const double most = std::max(4 * level_.deviation(), kUnusual);
  level_.add(std::clamp(delayed, level_.mean - most, level_.mean + most));
}

// The second longest counts: once is no habit. What takes longer than kLongestHabit never is one.
void PaceMemory::note_longest(double seconds) {
  if (seconds > kLongestHabit) return;
  if (seconds > longest_) {
    second_longest_ = longest_;
    longest_ = seconds;
  } else if (seconds > second_longest_) {
    second_longest_ = seconds;
  }
}

// `least`: the smallest change of interest, `cut`: how much one iteration can say at most.
bool PaceMemory::has_risen(Chart& chart, double least, double cut, double value, const Step& step) {
  const double deviation = level_.deviation();
  const double uncertain = kUncertain * deviation / std::sqrt(level_.count);
  const double slack = std::max({least / 2, uncertain, wander_.deviation(level_.deviation())});
  const double most = std::max(3 * deviation, std::max(cut, 2 * slack));
  const double distance = std::clamp(value - level_.mean, -most, most);
  chart.add(distance - slack, step);
  return chart.count >= kFewest && chart.sum > needed(deviation, slack, most);
}

void PaceMemory::watch_level(double value, const Step& step) {
  const bool block = best_.add(std::min(value, logs_.largest()), step);
  if (reference_ > 0) {
    watch_recovery();
  } else {
    wander_.add(value, level_.mean);
  }
  if (watch_rise(value, step)) return;
  watch_fall(value, step);
  if (block && reference_ == 0) watch_creep();
}

bool PaceMemory::watch_rise(double value, const Step& step) {
  for (Chart* const chart : {&small_, &large_}) {
    const bool is_small = chart == &small_;
    const double least = is_small ? kSmallChange : kLargeChange;
    if (!has_risen(*chart, least, is_small ? kUnusual : kVeryUnusual, value, step)) continue;
    // Time is not proportional to work: a part of each step does not depend on it.
    const double least_change =
        std::max({kSmallChange, kWanders * wander_.deviation(level_.deviation()),
                  kWorkError * std::fabs(work_recent_ - work_level_)});
    const double rise = middle(remembered(chart->count)) - level_.mean;
    if (rise >= least_change) {
      change_level(located(*chart, step), level_.mean, std::exp(rise));
      return true;
    }
    *chart = Chart{};
  }
  return false;
}

// A better level becomes the one to compare with when it has lasted.
void PaceMemory::watch_fall(double value, const Step& step) {
  const double deviation = level_.deviation();
  const double slack = std::max(kSmallChange / 2, kUncertain * deviation / std::sqrt(level_.count));
  const double most = std::max(3 * deviation, kUnusual);
  down_.add(std::clamp(level_.mean - value, -most, most) - slack, step);
  if (down_.count >= kBetter && down_.sum > needed(deviation, slack, most)) {
    restart_level(remembered(down_.count));
  }
}

void PaceMemory::watch_creep() {
  // A rise in steps is taken for the stages of a curriculum, unless it is large.
  const double least = best_.largest_rise > kStair ? kHighStairs : kCreep;
  const double margin = least + 3 * level_.deviation() / std::sqrt(static_cast<double>(kBlock));
  if (best_.blocks < 3 || best_.sustained - best_.best < margin) return;
  Chart creeping;
  creeping.count = kMostRecovery;
  creeping.since = best_.at;
  creeping.step = best_.step;
  change_level(creeping, best_.best, 0);
}

// A chart begins too early, with what was slow by chance, or too late, if the level rose little.
Chart PaceMemory::located(const Chart& chart, const Step& latest) const {
  Chart found = chart;
  const double most = level_.mean + std::max(4 * level_.deviation(), kVeryUnusual);
  const std::int64_t since = recent_.since_rise(level_age_ + kFewest, most);
  const bool numbered = chart.step != kNoStep && latest.number - chart.step == chart.count - 1;
  if (since > 0 && numbered) found.step = latest.number - since + 1;
  return found;
}

void PaceMemory::change_level(const Chart& chart, double reference, double rise) {
  rise_step_ = chart.step;
  rise_ = rise;
  if (reference_ == 0) {
    reference_ = std::exp(reference);
    changed_at_ = chart.since;
    changed_step_ = chart.step;
    took_ = std::min(chart.count, kMostRecovery);
    wander_.forget_latest();
  }
  recovered_ = 0;
  restart_level(remembered(chart.count));
}

void PaceMemory::watch_recovery() {
  const auto newest = static_cast<std::size_t>(std::clamp<std::int64_t>(took_, 10, kNewest));
  const double uncertain = level_.deviation() / std::sqrt(static_cast<double>(newest));
  const double most = std::log(reference_) + std::max(kBack, uncertain);
  const bool quick =
      pattern_.period() == 0 ? recent_.median_is_within(most, newest) : middle(newest) <= most;
  recovered_ = quick ? recovered_ + 1 : 0;
  ++slow_for_;
  if (recovered_ < took_ / 2) return;
  if (rise_ > 0 && slow_for_ < kBriefly) {
    const std::int64_t means = std::min(slow_for_ / kFewest + 1, kMostMeans);
    for (std::int64_t i = 0; i < means; ++i) wander_.add_mean(std::log(rise_));
  }
  slow_for_ = 0;
  reference_ = 0;
  changed_at_ = {};
  changed_step_ = rise_step_ = kNoStep;
  rise_ = 0;
  restart_level(remembered(recovered_));
}

void PaceMemory::restart_level(std::size_t newest) {
  const std::size_t count = std::min({newest, static_cast<std::size_t>(recent_.added()), kNewest});
  logs_ = RollingMedianMad(kWindow);
  level_ = Level{};
  for (std::size_t age = count; age-- > 0;) logs_.push(recent_.value(age));
  const double median = logs_.median();
  // What one in ten takes is no outlier: such a job may have steps of two sizes.
  const double often = count == 0 ? median : logs_.at_rank((count - 1) * 9 / 10);
  const double most = std::max({4 * kSigmaPerMad * logs_.mad(), kUnusual, often - median});
  for (std::size_t rank = 0; rank < count; ++rank) {
    level_.add(std::clamp(logs_.at_rank(rank), median - most, median + most));
  }
  level_age_ = 0;
  small_ = large_ = down_ = Chart{};
}

void PaceMemory::state(StateIo& io) {
  io(logs_);
  io(pattern_);
  io(recent_);
  io(work_level_);
  io(work_recent_);
  io(steady_);
  io(started_again_);
  io(first_before_);
  io(before_);
  io(began_);
  io(first_step_);
  io(level_age_);
  io(longest_);
  io(second_longest_);
  io(level_);
  io(wander_);
  io(small_);
  io(large_);
  io(down_);
  io(best_);
  io(reference_);
  io(changed_at_);
  io(changed_step_);
  io(rise_step_);
  io(rise_);
  io(took_);
  io(slow_for_);
  io(recovered_);
  if (level_age_ < 0 || level_age_ > recent_.added() || slow_for_ < 0) io.fail();
  if (!(reference_ >= 0) || !(rise_ >= 0) || !std::isfinite(before_)) io.fail();
  if (!std::isfinite(work_level_) || !std::isfinite(work_recent_)) io.fail();
}

}  // namespace trainwatch
