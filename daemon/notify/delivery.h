// SPDX-License-Identifier: Apache-2.0
// What one receiver is notified of, and when: each alert once when it fires, once when its severity
// rises, and once when it ends. No clock, no sockets.
//
// Whoever heard that an alert fires hears that it ends; whoever did not, because of its severity or
// a silence, does not. Updates of an alert are not sent.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/notify/notified_alert.h"

namespace trainwatch {

struct Notification {
  NotifiedAlertPtr alert;
  bool ends = false;                   // otherwise it fires, or has become more severe
  Severity severity = Severity::info;  // that it reports; at its end the last that was reported
  bool rises = false;                  // the receiver knows of it at a lower severity

  // The same for every try, also after a restart; different from that of any other.
  std::string idempotency_key() const;
};

class Delivery {
 public:
  using Heard = std::map<std::string, Severity>;  // by alert id
  using Silenced = std::function<bool(const NotifiedAlert&)>;

  // `heard`: of which firing alerts the receiver knows, at which severity.
  Delivery(Severity min_severity, Heard heard)
      : min_severity_(min_severity), heard_(std::move(heard)) {}

  // An alert that fires, whose versions are not taken any more: at the start, those up to the
  // receiver's position.
  void fires(const NotifiedAlertPtr& alert);

  // The next version of an alert, in the order of the log. What it returns must be delivered before
  // the next one is taken, or together with it.
  std::optional<Notification> take(const NotifiedAlertPtr& alert, const Silenced& silenced);

  // Once no version is left to take: of an alert that was held back, and is not silenced any more.
  std::optional<Notification> overdue(const Silenced& silenced);

  // The receiver has it, or has refused it for good.
  void delivered(const Notification& notification);

  // Forgets all alerts but these; returns those that it knew of.
  std::vector<std::string> forget_others(const std::set<std::string>& ids);

  const Heard& heard() const { return heard_; }
  std::size_t held() const { return held_.size(); }

 private:
  std::optional<Severity> known_severity(const std::string& id) const;
  std::optional<Notification> news_of(const NotifiedAlertPtr& alert) const;

  Severity min_severity_;
  Heard heard_;                                   // delivered
  Heard underway_;                                // returned, not delivered yet
  std::map<std::string, NotifiedAlertPtr> held_;  // would be sent, but for a silence
};

}  // namespace trainwatch
