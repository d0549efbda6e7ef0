// SPDX-License-Identifier: Apache-2.0
#include "commands/replayed_alerts.h"

#include <algorithm>
#include <utility>

#include "daemon/terminal/shown_alert.h"
#include "pipeline/engine/alert_json.h"

namespace trainwatch {

void ReplayedAlerts::add(const Alert& alert) {
  if (const auto known = latest_.find(alert.id); known != latest_.end()) {
    known->second = alert;
    return;
  }
  if (latest_.size() == kMost) print_oldest(alert.updated_at);
  latest_.emplace(alert.id, alert);
  order_.push_back(alert.id);
}

void ReplayedAlerts::print_oldest(Time latest) {
  const auto oldest = latest_.find(order_.front());
  order_.pop_front();
  const Alert alert = std::move(oldest->second);
  latest_.erase(oldest);
  auto shown = shown_alert(to_json(alert));
  if (!shown || (shown->part && !parts_)) return;
  shown->since = alert.began();
  shown->severity = std::max(alert.severity, alert.reached);
  ++printed_[static_cast<std::size_t>(shown->severity)];
  print_(past_text_of(*shown, style_, latest));
}

void ReplayedAlerts::finish(Time latest) {
  while (!order_.empty()) print_oldest(latest);
}

std::string ReplayedAlerts::counts() const {
  const std::size_t all = printed_[0] + printed_[1] + printed_[2];
  std::string text = std::to_string(all) + (all == 1 ? " alert" : " alerts");
  if (all == 0) return text + ".";
  for (const Severity severity : {Severity::critical, Severity::warning, Severity::info}) {
    text += severity == Severity::critical ? ": " : ", ";
    text += std::to_string(printed_[static_cast<std::size_t>(severity)]) + " ";
    text += to_string(severity);
  }
  return text + ".";
}

}  // namespace trainwatch
