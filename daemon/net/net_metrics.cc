#include "daemon/net/net_metrics.h"

#include <span>
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
    {"trainwatch_http_connections_refused_total", MetricType::counter, nullptr, {},
     [](const NetCounters& c) { return &c.connections_refused; }, "Connections refused because too many were open."},
    {"trainwatch_durable_subscribers", MetricType::gauge, nullptr, {},
     [](const NetCounters& c) { return &c.durable_subscribers; }, "Named subscribers whose position is kept."},
    {"trainwatch_durable_subscribers_refused_total", MetricType::counter, nullptr, {},
     [](const NetCounters& c) { return &c.durable_subscribers_refused; }, "Subscriptions refused because there were too many names."},
    {"trainwatch_ws_provisional_dropped_total", MetricType::counter, nullptr, {},
     [](const NetCounters& c) { return &c.provisional_dropped; }, "Provisional alerts not sent to slow clients; they are sent again once stored."},
};
// clang-format on

}  // namespace

std::vector<MetricFamily> net_metrics(const NetCounters& counters) {
  std::vector<MetricFamily> families;
  for (const Row& row : kTable) {
    MetricFamily family{row.name, row.help, row.type, {}, {}};
    const std::uint64_t* value = row.first(counters);
    if (row.label == nullptr) family.points.push_back({{}, static_cast<double>(*value), {}, 0});
    for (const auto label_value : row.values) {
      family.points.push_back(
          {{{row.label, std::string(label_value)}}, static_cast<double>(*value++), {}, 0});
    }
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace trainwatch
