// Numbers as tables show them: rounded as HTA does, and null where there is none.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace trainwatch {

// Half to even, as numpy does.
inline double rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::nearbyint(value * scale) / scale;
}

// NaN, which is written as null, where there is no whole.
inline double percentage(std::int64_t part, std::int64_t whole, int digits) {
  if (whole == 0) return std::numeric_limits<double>::quiet_NaN();
  return rounded(100 * static_cast<double>(part) / static_cast<double>(whole), digits);
}

inline std::optional<std::int64_t> whole_ns(double ns) {
  if (!std::isfinite(ns)) return std::nullopt;
  return std::llround(ns);
}

}  // namespace trainwatch
