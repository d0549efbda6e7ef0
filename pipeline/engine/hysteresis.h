// SPDX-License-Identifier: Apache-2.0
// What the evaluations of one condition mean for its alert. An alert opens with the first
// evaluation that is strong enough, is worth an update when its figures have changed enough, and
// ends after a number of consecutive clear evaluations. Its severity changes at most once a minute,
// except to one that the alert has not reached yet, and by the evaluation that replaces a
// provisional one.
#pragma once

#include <cstdint>

#include "trainwatch/condition.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class Hysteresis {
 public:
  // The condition was found. True: the alert opens or is worth an update.
  bool fires(const Condition& condition, const Lifecycle& lifecycle);
  // The condition was found, with nothing to report.
  void holds() { clear_in_a_row_ = 0; }
  // The condition was not found. True: the alert ends; the next one that fires opens another.
  bool clear(const Lifecycle& lifecycle);

  // Evaluations that fired since the alert opened; 0: it is not open.
  std::uint64_t firings() const { return firings_; }
  // At the last update.
  Severity severity() const { return severity_; }

  void state(StateIo& io);

 private:
  Severity settled(const Condition& condition) const;
  bool is_worth_update(const Condition& condition, Severity severity,
                       const Lifecycle& lifecycle) const;

  std::uint64_t firings_ = 0;
  std::int64_t clear_in_a_row_ = 0;
  std::int64_t recover_after_ = 0;  // 0: as the lifecycle says
  // At the last update.
  Severity severity_ = Severity::info;
  Severity reached_ = Severity::info;
  Time severity_since_{};
  bool provisional_ = false;
  std::uint64_t aspect_ = 0;
  std::uint64_t amount_ = 0;
  double figure_ = 0;
};

}  // namespace trainwatch
