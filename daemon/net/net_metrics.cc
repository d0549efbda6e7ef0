// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/net_metrics.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace trainwatch {
namespace {

constexpr std::string_view kReasons[] = {"client",   "slow",     "timeout",
                                         "protocol", "shutdown", "network"};
constexpr std::string_view kClasses[] = {"1xx", "2xx", "3xx", "4xx", "5xx"};
static_assert(std::size(kReasons) == static_cast<std::size_t>(Disconnect::count_));

struct Row {
  const char* name;
  MetricType type;
  const char* label;                         // nullptr: one series without labels
  std::span<const std::string_view> values;  // of the label
  const std::uint64_t* (*first)(const NetCounters&);
  const char* help;
};

// clang-format off
constexpr Row kTable[] = {
    {"trainwatch_ws_subscribers", MetricType::gauge, nullptr, {},
     [](const NetCounters& c) { return &c.ws_subscribers; }, "Connected WebSocket clients."},
    {"trainwatch_ws_disconnects_total", MetricType::counter, "reason", kReasons,
     [](const NetCounters& c) { return c.ws_disconnects.data(); }, "Closed WebSocket connections, by reason."},
    {"trainwatch_http_requests_total", MetricType::counter, "code_class", kClasses,
     [](const NetCounters& c) { return c.http_requests.data(); }, "HTTP requests answered, by status class."},
    {"trainwatch_http_connections", MetricType::gauge, nullptr, {},
     [](const NetCounters& c) { return &c.connections; }, "Open HTTP connections, without WebSockets."},
    {"trainwatch_http_connections_refused_total", MetricType::counter, nullptr, {},
     [](const NetCounters& c) { return &c.connections_refused; }, "Connections refused, or closed for others, because too many were open."},
    {"trainwatch_http_logins_refused_total", MetricType::counter, nullptr, {},
     [](const NetCounters& c) { return &c.logins_refused; }, "Requests with a wrong user or password."},
    {"trainwatch_tls_handshakes_failed_total", MetricType::counter, nullptr, {},
     [](const NetCounters& c) { return &c.tls_handshakes_failed; }, "TLS handshakes that failed: no version, cipher or certificate in common, or the client gave up."},
    {"trainwatch_durable_subscribers", MetricType::gauge, nullptr, {},
     [](const NetCounters& c) { return &c.durable_subscribers; }, "Named subscribers whose position is kept."},
    {"trainwatch_durable_subscribers_refused_total", MetricType::counter, nullptr, {},
     [](const NetCounters& c) { return &c.durable_subscribers_refused; }, "Subscriptions refused because there were too many names."},
    {"trainwatch_ws_provisional_dropped_total", MetricType::counter, nullptr, {},
     [](const NetCounters& c) { return &c.provisional_dropped; }, "Provisional alerts not sent to slow clients; they are sent again once stored."},
};
// clang-format on

MetricFamily& family_named(std::vector<MetricFamily>& families, std::string_view name,
                           MetricType type, std::string_view help) {
  const auto found =
      std::find_if(families.begin(), families.end(),
                   [name](const MetricFamily& family) { return family.name == name; });
  if (found != families.end()) return *found;
  return families.emplace_back(MetricFamily{std::string(name), std::string(help), type, {}, {}});
}

Labels name_label(const ClientLimit& row) {
  return {{"name", row.key}};
}

}  // namespace

std::vector<MetricFamily> net_metrics(const NetCounters& counters) {
  std::vector<MetricFamily> families;
  for (const Row& row : kTable) {
    MetricFamily family{row.name, row.help, row.type, {}, {}};
    const std::uint64_t* value = row.first(counters);
    if (row.label == nullptr) family.points.push_back({{}, static_cast<double>(*value), {}, 0});
    for (const auto label_value : row.values) {
      family.points.push_back({{{row.label, label_value}}, static_cast<double>(*value++), {}, 0});
    }
    families.push_back(std::move(family));
  }
  return families;
}

void add_client_limits(const ClientLimits& limits, const NetCounters& counters,
                       std::vector<MetricFamily>& families) {
  MetricFamily& values = family_named(families, "trainwatch_limit", MetricType::gauge,
                                      "Upper bound of what is kept, or of what a client may do.");
  for (const ClientLimit& row : client_limits()) {
    const double unit = row.unit == ClientLimit::Unit::milliseconds ? 1e-3 : 1;
    values.points.push_back({name_label(row), static_cast<double>(row.get(limits)) * unit, {}, 0});
  }
  MetricFamily& hits = family_named(families, "trainwatch_limit_hits_total", MetricType::counter,
                                    "How often a limit was hit.");
  for (const ClientLimit& row : client_limits()) {
    const auto count = counters.limit_hits[static_cast<std::size_t>(row.limit)];
    hits.points.push_back({name_label(row), static_cast<double>(count), {}, 0});
  }
}

}  // namespace trainwatch
