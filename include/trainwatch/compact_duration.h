// SPDX-License-Identifier: Apache-2.0
// A duration in 4 bytes, for windows of which each of thousands of ranks has one: to the
// microsecond up to 35 minutes, to the millisecond up to 24 days. Negative ones count as none.
#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstdint>

#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

class CompactDuration {
 public:
  CompactDuration() = default;
  explicit CompactDuration(Nanos duration) {
    const std::int64_t micros = std::chrono::round<Micros>(std::max(duration, Nanos{})).count();
    const bool is_short = micros < kInMillis;
    ticks_ = static_cast<std::uint32_t>(
        is_short ? micros : kInMillis + std::min(micros / 1000, kInMillis - 1));
  }

  Nanos value() const {
    if (ticks_ < kInMillis) return Micros{ticks_};
    return std::chrono::milliseconds{ticks_ - kInMillis};
  }
  auto operator<=>(const CompactDuration&) const = default;

  void state(StateIo& io) { io(ticks_); }

 private:
  using Micros = std::chrono::duration<std::int64_t, std::micro>;
  static constexpr std::int64_t kInMillis = std::int64_t{1} << 31;

  std::uint32_t ticks_ = 0;  // milliseconds if the highest bit is set, otherwise microseconds
};

}  // namespace trainwatch
