// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify/alertmanager_alerts.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "daemon/notify/notification_text.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kEvidenceBytes = 1000;

std::string labels_of(const NotifiedAlert& alert, Severity severity) {
  JsonWriter json;
  json.begin_object().field("alertname", alertmanager_name(alert.shown.rule));
  const auto add = [&json](const char* name, std::string_view value) {
    if (!value.empty()) json.field(name, value);
  };
  add("severity", to_string(severity));
  add("rule", alert.shown.rule);
  add("train_job", alert.job);
  add("node", alert.node);
  add("rank", alert.ranks.empty() ? alert.rank : std::string());
  add("ranks", alert.ranks);
  add("gpu", alert.gpu);
  return json.end_object().take();
}

}  // namespace

std::string alertmanager_name(std::string_view rule) {
  std::string name = "Trainwatch";
  bool begins = true;
  for (const char c : rule) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      name += begins ? static_cast<char>(std::toupper(byte)) : c;
    }
    begins = std::isalnum(byte) == 0;
  }
  return name;
}

void AlertmanagerAlerts::fires(const NotifiedAlertPtr& alert, Severity severity, Time now) {
  std::string labels = labels_of(*alert, severity);
  if (const auto known = groups_of_.find(alert->id());
      known != groups_of_.end() && known->second != labels) {
    remove(alert->id(), now);
  }
  Group& group = groups_[labels];
  if (group.members.empty()) {
    group.sent = kNoTime;
    group.sending = false;
    group.started = alert->shown.started;
    group.ended = kNoTime;
  }
  group.labels = labels;
  group.members[alert->id()] = alert;
  group.shown = alert;
  group.started = std::min(group.started, alert->shown.started);
  groups_of_[alert->id()] = std::move(labels);
}

void AlertmanagerAlerts::update(const NotifiedAlertPtr& alert) {
  const auto known = groups_of_.find(alert->id());
  if (known == groups_of_.end()) return;
  Group& group = groups_.at(known->second);
  group.members[alert->id()] = alert;
  group.shown = alert;
}

void AlertmanagerAlerts::ends(const NotifiedAlertPtr& alert, Severity severity, Time now) {
  if (!groups_of_.contains(alert->id())) fires(alert, severity, now);
  update(alert);
  remove(alert->id(), now);
}

void AlertmanagerAlerts::remove(const std::string& id, Time now) {
  const auto known = groups_of_.extract(id);
  Group& group = groups_.at(known.mapped());
  if (group.members.size() > 1) {
    group.members.erase(id);
    if (group.shown->id() == id) group.shown = group.members.begin()->second;
    return;
  }
  group.members.clear();
  group.ended = now;
  group.sent = kNoTime;
  group.sending = false;
}

std::string AlertmanagerAlerts::object_of(const Group& group, Time now) const {
  const NotifiedAlert& alert = *group.shown;
  const bool over = group.ended != kNoTime;
  const Time starts = std::min(group.started, now);
  const Time ends =
      over ? std::max(std::min(group.ended, now), starts) : now + kEndsAfter * resend_;
  JsonWriter json;
  json.begin_object().key("labels").raw(group.labels);
  json.key("annotations").begin_object();
  json.field("summary", alert.shown.summary);
  json.field("description", description_of(alert));
  json.field("runbook_url", base_url_ + alert.runbook);
  if (!alert.evidence.empty() && alert.evidence != "{}") {
    json.field("evidence", shortened(alert.evidence, kEvidenceBytes));
  }
  json.field("alert_id", alert.id());
  if (group.members.size() > 1) json.field("alerts", std::to_string(group.members.size()));
  json.end_object();
  json.field("startsAt", to_rfc3339(starts)).field("endsAt", to_rfc3339(ends));
  json.field("generatorURL", base_url_ + "/");
  return json.end_object().take();
}

std::vector<std::string> AlertmanagerAlerts::due(Time now, std::size_t most) {
  std::vector<std::string> bodies;
  std::size_t in_last = most;
  for (auto& [labels, group] : groups_) {
    group.sending = group.sent == kNoTime || now - group.sent >= resend_;
    if (!group.sending) continue;
    if (in_last == most) {
      bodies.emplace_back("[");
      in_last = 0;
    }
    if (in_last++ > 0) bodies.back() += ',';
    bodies.back() += object_of(group, now);
  }
  for (std::string& body : bodies) body += ']';
  return bodies;
}

void AlertmanagerAlerts::delivered(Time now) {
  for (auto& [labels, group] : groups_) {
    if (std::exchange(group.sending, false)) group.sent = now;
  }
  std::erase_if(groups_, [now](const auto& entry) {
    const Group& group = entry.second;
    return group.ended != kNoTime && group.sent != kNoTime &&
           now - group.ended >= kResolvedRetention;
  });
}

}  // namespace trainwatch
