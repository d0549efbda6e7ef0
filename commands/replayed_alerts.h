// SPDX-License-Identifier: Apache-2.0
// The alerts of a replay as lines for people: each once, with its final content, in the order in
// which they opened, as all of it is past.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "daemon/terminal/text_style.h"
#include "trainwatch/alert.h"

namespace trainwatch {

class ReplayedAlerts {
 public:
  // Alerts that wait for their final content; beyond, the oldest is printed as it is.
  static constexpr std::size_t kMost = 4096;

  using Print = std::function<void(std::string_view lines)>;
  // `parts`: also those for which another one speaks in the end.
  ReplayedAlerts(const TextStyle& style, bool parts, Print print)
      : style_(style), parts_(parts), print_(std::move(print)) {}

  void add(const Alert& alert);
  // Prints all that wait. `latest`: the newest event time.
  void finish(Time latest);

  // "3 alerts: 1 critical, 2 warning, 0 info." Of all that were printed.
  std::string counts() const;

 private:
  void print_oldest(Time latest);

  TextStyle style_;
  bool parts_;
  Print print_;
  std::deque<std::string> order_;  // ids, the oldest first
  std::map<std::string, Alert> latest_;
  std::array<std::size_t, 3> printed_{};  // by Severity
};

}  // namespace trainwatch
