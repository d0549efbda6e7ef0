// SPDX-License-Identifier: Apache-2.0
// Keeps an error that repeats itself from flooding the log: of each message, so many lines in a
// window of time, and then how many were left out.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainwatch {

class LogLimiter {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kLines = 20;
  static constexpr Clock::duration kWindow = std::chrono::minutes(1);
  // Messages told apart; those beyond count as one. Messages are fixed sentences, so there are
  // fewer.
  static constexpr std::size_t kMessages = 256;

  struct LeftOut {
    std::string message;
    std::uint64_t lines = 0;
  };

  // Whether this line may be written.
  bool admit(std::string_view message, Clock::time_point now) {
    auto known = windows_.find(message);
    if (known == windows_.end()) {
      if (windows_.size() >= kMessages) message = {};
      known = windows_.try_emplace(std::string(message), Window{now, 0}).first;
    }
    return ++known->second.lines <= kLines;
  }

  // Ends the windows that are over. Returns what was left out in them.
  std::vector<LeftOut> take_ended(Clock::time_point now) {
    std::vector<LeftOut> found;
    std::erase_if(windows_, [&](const auto& entry) {
      const auto& [message, window] = entry;
      if (now - window.begun < kWindow) return false;
      if (window.lines > kLines) found.push_back({message, window.lines - kLines});
      return true;
    });
    return found;
  }

 private:
  struct Window {
    Clock::time_point begun;
    std::uint64_t lines = 0;
  };
  std::map<std::string, Window, std::less<>> windows_;
};

}  // namespace trainwatch
