// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify/notification_text.h"

#include <algorithm>
#include <cctype>

#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kSlackText = 2500;  // Slack shows no more than 3000 characters of a section

// What Slack reads as markup (its own three entities).
std::string for_slack(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string_view slack_colour(const Notification& notification) {
  if (notification.ends) return "good";
  switch (notification.severity) {
    case Severity::critical:
      return "danger";
    case Severity::warning:
      return "warning";
    case Severity::info:
      return "#439FE0";
  }
  return "";
}

std::string headline_of(const Notification& notification) {
  const ShownAlert& shown = notification.alert->shown;
  std::string what = notification.ends ? "resolved" : std::string(to_string(notification.severity));
  std::ranges::transform(what, what.begin(), [](unsigned char c) { return std::toupper(c); });
  if (notification.rises) what += " (was less severe)";
  return "[" + what + "] " + shown.rule + (shown.place.empty() ? "" : " on " + shown.place);
}

}  // namespace

std::string description_of(const NotifiedAlert& alert) {
  std::string text;
  if (!alert.shown.cause.empty()) text = "Cause: " + alert.shown.cause;
  if (!alert.shown.next.empty()) text += (text.empty() ? "" : " ") + alert.shown.next;
  return text;
}

std::string shortened(std::string text, std::size_t bytes) {
  constexpr std::string_view kMark = "…";
  if (text.size() <= bytes) return text;
  std::size_t end = bytes - kMark.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end).append(kMark);
}

std::string webhook_body(const Notification& notification, std::string_view receiver,
                         std::string_view base_url) {
  JsonWriter json;
  json.begin_object().field("version", "1").field("receiver", receiver);
  json.field("status", notification.ends ? "resolved" : "firing");
  json.field("externalURL", base_url);
  json.key("alerts").begin_array().raw(notification.alert->published->json).end_array();
  return json.end_object().take();
}

std::string slack_body(const Notification& notification, std::string_view base_url) {
  const NotifiedAlert& alert = *notification.alert;
  const std::string title = headline_of(notification);
  std::string text = alert.shown.summary;
  if (notification.ends) {
    text += "\nOver after " + end_of(alert.shown) + ".";
  } else if (const std::string more = description_of(alert); !more.empty()) {
    text += "\n" + more;
  }
  JsonWriter json;
  json.begin_object().field("text", for_slack(title));
  json.key("attachments").begin_array().begin_object();
  json.field("color", slack_colour(notification));
  json.field("fallback", for_slack(title + ": " + alert.shown.summary));
  json.field("title", for_slack(alert.shown.rule))
      .field("title_link", std::string(base_url) + alert.runbook);
  json.field("text", for_slack(shortened(text, kSlackText)));
  json.field("footer", "<" + std::string(base_url) + "/|trainwatch>");
  if (alert.shown.started != kNoTime) {
    const Time at = notification.ends ? alert.shown.ended : alert.shown.started;
    json.field("ts",
               std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count());
  }
  json.end_object().end_array();
  return json.end_object().take();
}

}  // namespace trainwatch
