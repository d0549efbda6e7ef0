// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/alert_mark.h"

#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "pipeline/decode/json_member.h"
#include "trainwatch/time.h"

namespace trainwatch {
namespace {

constexpr std::int64_t kBeforeNs = 10'000'000'000;
constexpr std::int64_t kAfterNs = 20'000'000'000;

}  // namespace

std::optional<AlertMark> alert_mark(const PublishedAlert& alert) {
  simdjson::dom::parser parser;
  simdjson::dom::element parsed;
  if (parser.parse(alert.json).get(parsed) != simdjson::SUCCESS) return std::nullopt;
  AlertMark mark;
  mark.rule = alert.rule;
  mark.state = alert.state == Alert::State::firing ? "firing" : "resolved";
  mark.start_ns = to_ns(time_member(parsed, "started_at"));
  if (mark.start_ns == to_ns(kNoTime)) return std::nullopt;
  const std::int64_t end_ns =
      to_ns(time_member(parsed, alert.state == Alert::State::firing ? "updated_at" : "ended_at"));
  mark.end_ns = std::max(mark.start_ns, end_ns);
  mark.json = alert.json;
  return mark;
}

std::vector<AlertMark> alert_marks(const PublishedAlerts& alerts) {
  std::map<std::string, const PublishedAlert*> latest;
  for (const auto& alert : alerts) {
    if (!alert->part) latest[alert->id] = alert.get();
  }
  std::vector<AlertMark> marks;
  for (const auto& [id, alert] : latest) {
    if (auto mark = alert_mark(*alert)) marks.push_back(std::move(*mark));
  }
  return marks;
}

TimeWindow incident_window(const AlertMark& alert) {
  return {alert.start_ns - kBeforeNs, alert.start_ns + kAfterNs};
}

}  // namespace trainwatch
