// SPDX-License-Identifier: Apache-2.0
// Which emissions of alerts are worth lines in a terminal: that one opens, becomes more severe, or
// is over. What only changes its figures is not: the state line has those.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>

#include "daemon/terminal/shown_alert.h"

namespace trainwatch {

class AlertNews {
 public:
  // Alerts told apart, the newest; an older one that comes again counts as new.
  static constexpr std::size_t kMost = 4096;

  explicit AlertNews(Severity least) : least_(least) {}

  // Whether to print this one. Its end is printed if it was, and if it lasted long enough that its
  // first lines did not say that it is over.
  bool is_news(const ShownAlert& alert);

 private:
  struct Known {
    Severity severity = Severity::info;
    bool over = false;
  };

  Severity least_;
  std::map<std::string, Known> known_;  // by id
  std::deque<std::string> order_;       // ids, the oldest first
};

}  // namespace trainwatch
