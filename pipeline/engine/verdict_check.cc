// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/verdict_check.h"

#include <cmath>

#include "trainwatch/time.h"

namespace trainwatch {
namespace {

constexpr double kRounding = 1e-6;  // seconds: times are whole nanoseconds or microseconds

bool is_amount(double seconds) {
  return std::isfinite(seconds) && seconds >= 0;
}

}  // namespace

bool contradicts_itself(const Verdict& verdict) {
  if (!std::isfinite(verdict.threshold) || !std::isfinite(verdict.baseline)) return true;
  if (!is_amount(verdict.lost_seconds) || !is_amount(verdict.window_lost_seconds)) return true;
  if (!(verdict.cause.coverage >= 0 && verdict.cause.coverage <= 1)) return true;
  const double window = to_seconds(verdict.window_end - verdict.window_start);
  if (window < 0 || verdict.window_lost_seconds > window + kRounding) return true;
  if (verdict.baseline == 0 || verdict.threshold == 0) return false;  // not known
  return verdict.threshold > verdict.baseline ? verdict.value < verdict.baseline
                                              : verdict.value > verdict.baseline;
}

}  // namespace trainwatch
