// SPDX-License-Identifier: Apache-2.0
#include "daemon/terminal/alert_news.h"

namespace trainwatch {

bool AlertNews::is_news(const ShownAlert& alert) {
  const auto known = known_.find(alert.id);
  if (known == known_.end()) {
    if (alert.severity < least_) return false;
    if (known_.size() == kMost) {
      known_.erase(order_.front());
      order_.pop_front();
    }
    known_.emplace(alert.id, Known{alert.severity, alert.resolved});
    order_.push_back(alert.id);
    return true;
  }
  Known& before = known->second;
  const bool reopened = before.over && !alert.resolved;
  const bool worse = alert.severity > before.severity;
  const bool ended = alert.resolved && !before.over;
  before.over = alert.resolved;
  if (worse) before.severity = alert.severity;
  return worse || reopened || (ended && alert.ended - alert.since >= kBrief);
}

}  // namespace trainwatch
