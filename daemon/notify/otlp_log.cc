// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify/otlp_log.h"

namespace trainwatch {
namespace {

// SeverityNumber of OpenTelemetry's logs data model.
int severity_number(Severity severity) {
  constexpr int kNumbers[] = {9, 13, 21};  // INFO, WARN, FATAL; by Severity
  return kNumbers[static_cast<std::size_t>(severity)];
}

void write_attributes(JsonWriter& json, const Notification& notification,
                      std::string_view base_url) {
  const NotifiedAlert& alert = *notification.alert;
  const std::string runbook = alert.runbook.empty() ? "" : std::string(base_url) + alert.runbook;
  const std::pair<std::string_view, std::string_view> texts[] = {
      {"alert_id", alert.id()},
      {"state", notification.ends ? "resolved" : "firing"},
      {"rule", alert.published->rule},
      {"severity", to_string(notification.severity)},
      {"train_job", alert.job},
      {"node", alert.node},
      {"rank", alert.rank},
      {"ranks", alert.ranks},
      {"gpu", alert.gpu},
      {"cause", alert.shown.cause},
      {"next", alert.shown.next},
      {"ended_because", notification.ends ? std::string_view(alert.shown.ended_because) : ""},
      {"evidence", alert.evidence},
      {"runbook_url", runbook},
  };
  for (const auto& [key, value] : texts) {
    if (!value.empty()) write_attribute(json, key, value);
  }
  write_attribute(json, "idempotency_key", std::string_view(notification.idempotency_key()));
}

}  // namespace

std::string otlp_log_request(const Notification& notification, const OtlpResource& resource,
                             std::string_view base_url, Time now) {
  const ShownAlert& shown = notification.alert->shown;
  JsonWriter json;
  json.begin_object().key("resourceLogs").begin_array().begin_object();
  begin_scope(json, resource, "scopeLogs");
  json.key("logRecords").begin_array().begin_object();
  write_time_ns(json, "timeUnixNano", notification.ends ? shown.ended : shown.since);
  write_time_ns(json, "observedTimeUnixNano", now);
  json.field("severityNumber", severity_number(notification.severity));
  json.field("severityText", to_string(notification.severity));
  json.field("eventName", "trainwatch.alert");
  json.key("body").begin_object().field("stringValue", shown.summary).end_object();
  json.key("attributes").begin_array();
  write_attributes(json, notification, base_url);
  json.end_array().end_object().end_array();  // logRecords
  json.end_object().end_array();              // scopeLogs
  return json.end_object().end_array().end_object().take();
}

}  // namespace trainwatch
