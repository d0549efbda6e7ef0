// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify/delivery.h"

namespace trainwatch {

std::string Notification::idempotency_key() const {
  if (ends) return alert->id() + "-resolved";
  return alert->id() + "-firing-" + std::string(to_string(severity));
}

// That it fires, if the receiver should know and does not.
std::optional<Notification> Delivery::news_of(const NotifiedAlertPtr& alert) const {
  if (alert->published->part || alert->severity() < min_severity_) return std::nullopt;
  const auto known = known_severity(alert->id());
  if (known && *known >= alert->severity()) return std::nullopt;
  return Notification{alert, false, alert->severity(), known.has_value()};
}

std::optional<Severity> Delivery::known_severity(const std::string& id) const {
  if (const auto known = underway_.find(id); known != underway_.end()) return known->second;
  if (const auto known = heard_.find(id); known != heard_.end()) return known->second;
  return std::nullopt;
}

std::vector<std::string> Delivery::forget_others(const std::set<std::string>& ids) {
  std::vector<std::string> forgotten;
  for (const auto& [id, severity] : heard_) {
    if (!ids.contains(id)) forgotten.push_back(id);
  }
  for (const std::string& id : forgotten) heard_.erase(id);
  return forgotten;
}

void Delivery::fires(const NotifiedAlertPtr& alert) {
  if (news_of(alert)) held_[alert->id()] = alert;
}

std::optional<Notification> Delivery::take(const NotifiedAlertPtr& alert,
                                           const Silenced& silenced) {
  held_.erase(alert->id());
  if (!alert->firing()) {
    const auto known = known_severity(alert->id());
    if (!known) return std::nullopt;
    return Notification{alert, true, *known, false};
  }
  auto news = news_of(alert);
  if (!news) return std::nullopt;
  if (silenced(*alert)) {
    held_[alert->id()] = alert;
    return std::nullopt;
  }
  underway_[alert->id()] = news->severity;
  return news;
}

std::optional<Notification> Delivery::overdue(const Silenced& silenced) {
  for (auto held = held_.begin(); held != held_.end(); ++held) {
    if (silenced(*held->second)) continue;
    auto news = news_of(held->second);
    held_.erase(held);
    if (news) underway_[news->alert->id()] = news->severity;
    return news;
  }
  return std::nullopt;
}

void Delivery::delivered(const Notification& notification) {
  const std::string& id = notification.alert->id();
  if (notification.ends) {
    heard_.erase(id);
    underway_.erase(id);
    return;
  }
  heard_[id] = notification.severity;
  if (const auto known = underway_.find(id);
      known != underway_.end() && known->second <= notification.severity) {
    underway_.erase(known);
  }
}

}  // namespace trainwatch
