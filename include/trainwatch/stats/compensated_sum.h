// SPDX-License-Identifier: Apache-2.0
// A sum of many doubles that does not drift: rounding errors are summed separately and added at the
// end (Neumaier 1974). It stays finite: a term that is not, or that would make the sum overflow, is
// left out.
#pragma once

#include <cmath>

#include "trainwatch/state_io.h"

namespace trainwatch {

class CompensatedSum {
 public:
  // False if the term was left out.
  bool add(double term) {
    const double sum = sum_ + term;
    if (!std::isfinite(sum)) return false;
    const bool larger = std::fabs(sum_) >= std::fabs(term);
    rounded_away_ += larger ? (sum_ - sum) + term : (term - sum) + sum_;
    sum_ = sum;
    return true;
  }
  double value() const { return sum_ + rounded_away_; }

  void state(StateIo& io) {
    io(sum_);
    io(rounded_away_);
    if (std::isfinite(value())) return;
    *this = CompensatedSum{};
    io.fail();
  }

 private:
  double sum_ = 0;
  double rounded_away_ = 0;
};

}  // namespace trainwatch
