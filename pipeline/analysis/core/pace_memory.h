// The robust memory of iteration times: one per rank, mode and writer. On the scale of logarithms,
// on which "1.5 times as long" is the same distance everywhere, it knows
//   * the level and the spread: median and MAD of the last kWindow normal iterations;
//   * the tail: beyond which time an iteration is not what this job does now and then. The mean
//     excess over the 95th percentile, extrapolated exponentially (peaks over threshold; Pickands
//     1975) to one iteration in 10^8. A job with a heavy tail has a far limit;
//   * whether the level has changed for the worse and stayed there: two CUSUM charts (Page 1954),
//     one for small and one for large changes, against the level of a while ago, and the level of
//     kBlock iterations against the best that the attempt has sustained, for what creeps.
// What lies beyond the limit enters as the limit, so one stall moves nothing, and a tail that comes
// back again and again is learned.
//
// An attempt warms up: its first iteration does not count, kWarm iterations make the first
// judgement (kWarmRecord of a profiler, whose record is short), and what they learned from
// compilation is forgotten after twice as many.
//
// O(log kWindow) per iteration; about 9 KiB; allocates only when the level changes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

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

  // The next iteration. Returns what was usual before it, and where the level stands with it.
  Pace add(const Step& step);

  // The training was started again. What is usual is learned anew.
  void begin_attempt() { *this = PaceMemory{}; }

  void state(StateIo& io);

 private:
  static constexpr std::size_t kRecent = 128;  // iterations
  static constexpr std::size_t kNewest = 64;   // of them, that make a level
  static constexpr std::int64_t kDelay = 40;   // iterations that the reference lags behind
  static constexpr std::int64_t kBlock = 50;

  // Where a change was first seen, and how much speaks for it.
  struct Chart {
    double sum = 0;
    std::int64_t count = 0;  // iterations since the suspicion
    Time since{};
    std::int64_t step = kNoStep;

    void add(double distance, const Step& step);
    void state(StateIo& io);
  };
  // Mean and variance, with more weight for what is new.
  struct Level {
    double mean = 0;
    double variance = 0;
    double count = 0;

    void add(double value);
    double deviation() const;
    void state(StateIo& io);
  };
  // How far the means of kFewest iterations wander about the level. Independent iterations make
  // them wander little; those of a busy machine, which is quick now and slow then, do. A worse
  // level counts only once it has gone again.
  struct Wander {
    double sum = 0;   // of the current mean
    double held = 0;  // the distance of the mean before, which may be that of a change
    bool holds = false;
    std::int64_t count = 0;
    std::int64_t means = 0;
    double variance = 0;

    void add(double value, double level);
    void add_mean(double distance);
    void forget_latest();
    double deviation(double of_one) const;
    void state(StateIo& io);
  };
  // The best level that was sustained.
  struct Best {
    double sum = 0;  // of the current block
    std::int64_t count = 0;
    double before = 0;     // mean of the block before
    double sustained = 0;  // by the last two blocks: the lower mean
    double best = 0;
    std::int64_t blocks = 0;
    Time at{};  // when the best one ended
    std::int64_t step = kNoStep;

    // True when a block is complete.
    bool add(double value, const Step& step);
    void state(StateIo& io);
  };

  Pace judge(std::int64_t warm) const;
  double limit_of(double median, double sigma) const;
  void remember(double value, double limit);
  void watch_level(double value, const Step& step);
  bool has_risen(Chart& chart, double least, double cut, double value, const Step& step);
  // True if the level has changed for the worse.
  bool watch_rise(double value, const Step& step);
  void watch_fall(double value, const Step& step);
  void watch_creep();
  void watch_recovery();
  // How many of the recent iterations came since the level rose: the split into two levels that
  // explains them best. 0: it rose before them.
  std::int64_t since_rise() const;
  Chart located(const Chart& chart, const Step& latest) const;
  // `rise`: to so many times the level before.
  void change_level(const Chart& chart, double reference, double rise);
  void describe_level(Pace& pace) const;
  void restart_level(std::size_t newest);
  // Of so many iterations.
  static std::size_t remembered(std::int64_t count) {
    return static_cast<std::size_t>(std::min(count, static_cast<std::int64_t>(kNewest)));
  }
  double recent_median(std::size_t newest) const;
  // recent_median(newest) <= most, without finding it: asked at every iteration while the level is
  // worse.
  bool recent_median_is_within(double most, std::size_t newest) const;
  void note_longest(double seconds);

  RollingMedianMad logs_{kWindow};
  std::array<float, kRecent> recent_{};  // a ring
  std::int64_t seen_ = 0;                // iterations of the attempt
  std::int64_t level_age_ = 0;           // iterations since the level was last learned anew
  double longest_ = 0;                   // the two longest iterations, seconds
  double second_longest_ = 0;
  Level level_;
  Wander wander_;
  Chart small_;
  Chart large_;
  Chart down_;
  Best best_;
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
