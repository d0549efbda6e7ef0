// SPDX-License-Identifier: Apache-2.0
// The robust memory of iteration times: one per rank, mode and writer. On the scale of logarithms,
// on which "1.5 times as long" is the same distance everywhere, it knows
//   * the level and the spread: median and MAD of the last kWindow normal iterations;
//   * the tail: beyond which time an iteration is not what this job does now and then. The mean
//     excess over the 95th percentile, extrapolated exponentially (peaks over threshold; Pickands
//     1975) to one iteration in 10^8. A job with a heavy tail has a far limit;
//   * whether the level has changed for the worse and stayed there: two CUSUM charts (Page 1954),
//     one for small and one for large changes, against the level of a while ago, and the level of
//     kBlock iterations against the best that the attempt has sustained, for what creeps.
// Steps of several kinds (step_pattern.h) are compared with the level of their kind, and times with
// those for the same amount of work where that is known.
//
// What lies beyond the limit enters as the limit, so one stall moves nothing, and a tail that comes
// back again and again is learned.
//
// An attempt warms up: its first iteration does not count, kWarm iterations make the first
// judgement (kWarmRecord of a profiler, whose record is short, and of a log, each of whose records
// may stand for many), and what they learned from
// compilation is forgotten after twice as many. For slow steps, kSteady similar iterations that
// take a minute in total are enough.
//
// O(log kWindow) per iteration; about 4 KiB; allocates in the first 128 iterations and when the
// level changes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pipeline/analysis/core/pace_level.h"
#include "pipeline/analysis/core/recent_iterations.h"
#include "pipeline/analysis/core/step_pattern.h"
#include "trainwatch/event.h"
#include "trainwatch/pace.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/median.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch {

class PaceMemory {
 public:
  static constexpr std::size_t kWindow = 400;
  static constexpr std::int64_t kWarm = 30;
  static constexpr std::int64_t kWarmRecord = 10;

  // The next iteration. `work`: its amount of work, relative to the usual one. Returns what was
  // usual before it, and where the level stands with it.
  Pace add(const Step& step, double work = 1);

  // The training was started again. What is usual is learned anew, and its level is then compared
  // with that of the attempt before.
  void begin_attempt();
  // What follows is measured in another way.
  void forget() { *this = PaceMemory{}; }

  void state(StateIo& io);

 private:
  static constexpr std::size_t kNewest = 64;  // iterations that make a level
  static constexpr std::int64_t kDelay = 40;  // iterations that the reference lags behind
  static constexpr std::int64_t kSteady = 6;  // iterations that are enough if they are slow
  double with_work(double value, double work) const;
  Pace judge(std::int64_t warm, double work) const;
  bool becomes_steady() const;
  void follow_pattern();
  double middle(std::size_t newest) const;
  double recent_seconds() const;
  void compare_with_before();
  double limit_of(double median, double sigma) const;
  void remember(double value, double limit);
  void watch_level(double value, const Step& step);
  bool has_risen(pace::Chart& chart, double least, double cut, double value, const Step& step);
  // True if the level has changed for the worse.
  bool watch_rise(double value, const Step& step);
  void watch_fall(double value, const Step& step);
  void watch_creep();
  void watch_recovery();
  pace::Chart located(const pace::Chart& chart, const Step& latest) const;
  // `rise`: to so many times the level before.
  void change_level(const pace::Chart& chart, double reference, double rise);
  void describe_level(Pace& pace) const;
  void restart_level(std::size_t newest);
  // Of so many iterations.
  static std::size_t remembered(std::int64_t count) {
    return static_cast<std::size_t>(std::min(count, static_cast<std::int64_t>(kNewest)));
  }
  void note_longest(double seconds);

  RollingMedianMad logs_{kWindow};
  pace::StepPattern pattern_;
  pace::RecentIterations recent_;  // without what their kinds take longer
  double work_level_ = 0;          // logarithm of the work per iteration, over a long time,
  double work_recent_ = 0;         // and lately
  bool steady_ = false;
  bool started_again_ = false;
  double before_ = 0;                    // the level of the attempt before
  std::int64_t first_before_ = kNoStep;  // the number of its first step
  Time began_{};                         // this attempt, with this step
  std::int64_t first_step_ = kNoStep;
  std::int64_t level_age_ = 0;  // iterations since the level was last learned anew
  double longest_ = 0;          // the two longest iterations, seconds
  double second_longest_ = 0;
  pace::Level level_;
  pace::Wander wander_;
  pace::Chart small_;
  pace::Chart large_;
  pace::Chart down_;
  pace::Best best_;
  // While the level is worse than before:
  double reference_ = 0;  // seconds
  Time changed_at_{};
  std::int64_t changed_step_ = kNoStep;
  std::int64_t rise_step_ = kNoStep;  // of the last rise
  double rise_ = 0;                   // times the level before
  std::int64_t took_ = 0;             // iterations to find out
  std::int64_t slow_for_ = 0;         // iterations since
  std::int64_t recovered_ = 0;        // iterations that were as quick as before
};

}  // namespace trainwatch
