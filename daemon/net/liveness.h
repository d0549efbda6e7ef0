// SPDX-License-Identifier: Apache-2.0
// Whether the client of a WebSocket still answers, and whether it says too much.
#pragma once

#include <chrono>
#include <cstdint>

namespace trainwatch {

class Liveness {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Due : std::uint8_t {
    nothing,
    ping,
    give_up,  // two pings in a row had no answer
  };

  explicit Liveness(Clock::time_point now) : last_heard_(now) {}

  // The client has said something. True once in each second in which that is more than `most`.
  bool heard(Clock::time_point now, std::uint64_t most) {
    last_heard_ = now;
    unanswered_pings_ = 0;
    if (now - second_start_ >= std::chrono::seconds(1)) {
      second_start_ = now;
      heard_this_second_ = 0;
    }
    return ++heard_this_second_ == most + 1;
  }

  // What is due after a silence of `ping`. Each ping that is due counts as sent.
  Due due(Clock::time_point now, Clock::duration ping) {
    constexpr unsigned kMostPings = 2;
    if (now - last_heard_ <= ping * (unanswered_pings_ + 1)) return Due::nothing;
    if (unanswered_pings_ == kMostPings) return Due::give_up;
    ++unanswered_pings_;
    return Due::ping;
  }

 private:
  Clock::time_point last_heard_;
  Clock::time_point second_start_{};
  std::uint64_t heard_this_second_ = 0;
  unsigned unanswered_pings_ = 0;
};

}  // namespace trainwatch
