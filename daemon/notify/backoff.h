// SPDX-License-Identifier: Apache-2.0
// When a failed request is tried again: after twice the time each time, up to a minute, with jitter
// so that many clients do not come back together. No clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>

namespace trainwatch {

class Backoff {
 public:
  static constexpr std::chrono::milliseconds kFirst{1'000};
  static constexpr std::chrono::milliseconds kLast{60'000};

  explicit Backoff(std::uint32_t seed) : random_(seed) {}

  void succeeded() { wait_ = kFirst; }

  // How long to wait after another failure: half to all of the current time, but at least what the
  // server asks for.
  std::chrono::milliseconds failed(std::optional<std::chrono::seconds> retry_after) {
    std::uniform_int_distribution<std::int64_t> jitter(wait_.count() / 2, wait_.count());
    const std::chrono::milliseconds wait{jitter(random_)};
    wait_ = std::min(2 * wait_, kLast);
    return retry_after ? std::max<std::chrono::milliseconds>(wait, *retry_after) : wait;
  }

 private:
  std::minstd_rand random_;
  std::chrono::milliseconds wait_ = kFirst;
};

}  // namespace trainwatch
