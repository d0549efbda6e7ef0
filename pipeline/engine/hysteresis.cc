// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/hysteresis.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace trainwatch {

namespace {

constexpr auto kSettles = std::chrono::minutes(1);

}  // namespace

bool Hysteresis::fires(const Condition& condition, const Lifecycle& lifecycle) {
  if (firings_ == 0 && !condition.opens) return false;
  clear_in_a_row_ = 0;
  recover_after_ = condition.recover_after;
  const Severity severity = settled(condition);
  if (firings_++ > 0 && !is_worth_update(condition, severity, lifecycle)) return false;
  if (severity != severity_ || firings_ == 1) severity_since_ = condition.at;
  severity_ = severity;
  reached_ = std::max(reached_, severity);
  provisional_ = condition.provisional;
  aspect_ = condition.aspect;
  amount_ = condition.amount;
  figure_ = condition.figure;
  return true;
}

Severity Hysteresis::settled(const Condition& condition) const {
  const bool free = firings_ == 0 || condition.severity > reached_ ||
                    condition.at - severity_since_ >= kSettles ||
                    (provisional_ && !condition.provisional);
  return free ? condition.severity : severity_;
}

bool Hysteresis::is_worth_update(const Condition& condition, Severity severity,
                                 const Lifecycle& lifecycle) const {
  if (severity != severity_ || condition.aspect != aspect_) return true;
  if (amount_ > 0 && condition.amount / 2 >= amount_) return true;
  const double now = condition.figure;
  const double by = lifecycle.min_change;
  switch (lifecycle.change) {
    case Lifecycle::Change::any:
      return true;
    case Lifecycle::Change::points:
      return std::fabs(now - figure_) >= by;
    case Lifecycle::Change::rise:
      return now >= figure_ + by;
    case Lifecycle::Change::factor:
      return now > by * figure_ || figure_ > by * now;
  }
  return true;
}

bool Hysteresis::clear(const Lifecycle& lifecycle) {
  if (firings_ == 0) return false;
  const std::int64_t needed = recover_after_ > 0 ? recover_after_ : lifecycle.recover_after;
  if (++clear_in_a_row_ < needed) return false;
  *this = Hysteresis{};
  return true;
}

void Hysteresis::state(StateIo& io) {
  io(firings_);
  io(clear_in_a_row_);
  io(recover_after_);
  io(severity_);
  io(reached_);
  io(severity_since_);
  io(provisional_);
  io(aspect_);
  io(amount_);
  io(figure_);
  const bool impossible = reached_ > Severity::critical || severity_ > reached_;
  if (impossible || clear_in_a_row_ < 0 || recover_after_ < 0) io.fail();
}

}  // namespace trainwatch
