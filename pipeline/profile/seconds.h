// Seconds as Python's profilers write them, in doubles, to integer nanoseconds.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace trainwatch {

// Exact to the nanosecond up to 10^15 ns, more than eleven days. nullopt: NaN, or beyond what an
// int64 counts.
inline std::optional<std::int64_t> seconds_to_ns(double seconds) {
  constexpr double kLimit = 9.2e9;
  if (!(std::abs(seconds) < kLimit)) return std::nullopt;
  return std::llround(seconds * 1e9);
}

}  // namespace trainwatch
