// SPDX-License-Identifier: Apache-2.0
// Rates of samples and tokens that a job logs, and that have fallen for good although the durations
// of its steps do not say so: some logs have no times, or times of something else.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rules/scalar_track.h"
#include "trainwatch/condition.h"
#include "trainwatch/interner.h"
#include "trainwatch/scalar.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/median.h"

namespace trainwatch {

// Of one subject. One alert for all of its rates, that of the one which shows it first.
class FallingRates {
 public:
  static constexpr std::size_t kMostTags = 8;  // further ones are not judged
  static constexpr std::size_t kUsual = 100;   // records that say what is usual
  static constexpr std::size_t kLeastUsual = 20;
  static constexpr std::uint64_t kSure = 10;     // records in a row that are lower, or better again
  static constexpr std::uint64_t kPatient = 30;  // where the durations of steps are known
  static constexpr double kRatio = 1.5;
  static constexpr double kBetter = 1.25;

  // What the durations of its steps say.
  struct Durations {
    bool known = false;
    bool reported = false;  // an alert about them is open
  };

  explicit FallingRates(const Interner& interner) : interner_(interner) {}

  void on(const Scalar& scalar, const Durations& durations, Verdicts& out);
  // The durations of its steps say it as well.
  void end(Time at, Verdicts& out);
  // What follows is of another attempt.
  void restart(Time at, Verdicts& out);
  bool warm() const {
    return std::ranges::any_of(rates_,
                               [](const Rate& rate) { return rate.usual.size() >= kLeastUsual; });
  }
  void state(StateIo& io);

 private:
  // Of the record that is being read.
  struct Value {
    Symbol tag = Symbol::none;
    ScalarKind kind = ScalarKind::other;
    double value = 0;

    void state(StateIo& io) {
      io(tag);
      io(kind);
      io(value);
    }
  };
  struct Rate : ScalarTrack {
    ScalarKind kind = ScalarKind::other;
    RollingMedianMad usual{kUsual};  // before it fell
    RollingMedianMad recent{kSure};
    std::uint64_t below = 0;  // records in a row
    std::int64_t below_step = kNoStep;
    Time below_since = kNoTime;
    std::uint64_t better = 0;  // records in a row, of an open alert

    void forget() {
      usual = RollingMedianMad{kUsual};
      recent = RollingMedianMad{kSure};
      below = better = 0;
    }
    bool possible() const;
    void state(StateIo& io);
  };

  bool counts(const Rate& rate) const;
  void take(const Scalar& scalar, const Value& value, const Durations& durations, Verdicts& out);
  void judge(Rate& rate, const Scalar& scalar, double value, const Durations& durations,
             Verdicts& out);
  void go_on(Rate& rate, const Scalar& scalar, double value, Verdicts& out);
  void fire(const Rate& rate, const Scalar& scalar, Verdicts& out) const;
  Verdict describe(const Rate& rate, const Scalar& scalar) const;

  const Interner& interner_;
  std::vector<Rate> rates_;
  std::vector<Value> record_;
  bool evaluates_ = false;  // the record
};

}  // namespace trainwatch
