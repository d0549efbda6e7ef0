// SPDX-License-Identifier: Apache-2.0
// Reads what tests need out of alert JSON lines. The writer's key order is fixed (to_json), so
// plain text search is exact.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace trainwatch::test {

struct AlertLine {
  std::string id, rule, severity, state, json;

  bool loud() const { return severity != "info"; }
  bool has(std::string_view text) const { return json.find(text) != std::string::npos; }
};

inline std::string text_field(std::string_view json, std::string_view name) {
  const std::string start = "\"" + std::string(name) + "\":\"";
  const std::size_t at = json.find(start);
  if (at == std::string_view::npos) return {};
  const std::size_t from = at + start.size();
  return std::string(json.substr(from, json.find('"', from) - from));
}

inline std::vector<AlertLine> parse_alerts(const std::string& lines) {
  std::vector<AlertLine> alerts;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    alerts.push_back({text_field(line, "id"), text_field(line, "rule"),
                      text_field(line, "severity"), text_field(line, "state"), line});
  }
  return alerts;
}

// The last content of each alert, by id.
inline std::map<std::string, AlertLine> final_alerts(const std::vector<AlertLine>& alerts) {
  std::map<std::string, AlertLine> final;
  for (const AlertLine& alert : alerts) final[alert.id] = alert;
  return final;
}

// Ids in the order in which each rule and subject first had them.
inline std::map<std::string, std::vector<std::string>> order_by_subject(
    const std::vector<AlertLine>& alerts) {
  std::map<std::string, std::vector<std::string>> order;
  std::map<std::string, bool> seen;
  for (const AlertLine& alert : alerts) {
    if (seen[alert.id]) continue;
    seen[alert.id] = true;
    const std::size_t at = alert.json.find("\"subject\":");
    const std::string subject = alert.json.substr(at, alert.json.find('}', at) - at);
    order[alert.rule + " " + subject].push_back(alert.id);
  }
  return order;
}

}  // namespace trainwatch::test
