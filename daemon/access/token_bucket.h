// SPDX-License-Identifier: Apache-2.0
// A limit of requests, as exporter-toolkit has it: a bucket that is full at first, loses one for
// each request and gains one per interval.
#pragma once

#include <algorithm>
#include <chrono>

#include "daemon/access/access.h"

namespace trainwatch {

class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;

  explicit TokenBucket(const RateLimit& limit)
      : limit_(limit), tokens_(static_cast<double>(limit.burst)) {}

  const RateLimit& limit() const { return limit_; }

  // False: there was none.
  bool take(Clock::time_point now) {
    if (limit_.interval <= Nanos{0}) return true;
    const double gained = std::chrono::duration<double>(now - last_) / limit_.interval;
    tokens_ = std::min(static_cast<double>(limit_.burst), tokens_ + gained);
    last_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

 private:
  RateLimit limit_;
  double tokens_;
  Clock::time_point last_{};
};

}  // namespace trainwatch
