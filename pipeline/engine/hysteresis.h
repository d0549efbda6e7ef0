// What the evaluations of one condition mean for its alert. An alert opens with the first
// evaluation that is strong enough, is worth an update when what it shows has changed enough, and
// ends after a number of clear evaluations in a row. Counts evaluations, never time.
#pragma once

#include <cstdint>

#include "trainwatch/condition.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class Hysteresis {
 public:
  // An evaluation that found the condition. True: it opens the alert or is worth an update.
  bool fires(const Condition& condition, const Lifecycle& lifecycle);
  // One that found it, with nothing to say.
  void holds() { clear_in_a_row_ = 0; }
  // A clear one. True: it ends the alert; the next one that fires opens another.
  bool clear(const Lifecycle& lifecycle);

  // Evaluations that fired since the alert opened; 0: it is not open.
  std::uint64_t firings() const { return firings_; }

  void state(StateIo& io);

 private:
  bool is_worth_update(const Condition& condition, const Lifecycle& lifecycle) const;

  std::uint64_t firings_ = 0;
  std::int64_t clear_in_a_row_ = 0;
  std::int64_t recover_after_ = 0;  // 0: the lifecycle's
  // Of the last update.
  Severity severity_ = Severity::info;
  std::uint64_t aspect_ = 0;
  std::uint64_t amount_ = 0;
  double figure_ = 0;
};

}  // namespace trainwatch
