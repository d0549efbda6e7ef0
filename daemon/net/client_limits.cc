// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/client_limits.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "pipeline/state/state_store.h"

namespace trainwatch {
namespace {

template <auto Group, auto Member>
std::uint64_t get(const ClientLimits& limits) {
  const auto& value = limits.*Group.*Member;
  if constexpr (requires { value.count(); }) {
    return static_cast<std::uint64_t>(value.count());
  } else {
    return value;
  }
}

template <auto Group, auto Member>
void set(ClientLimits& limits, std::uint64_t number) {
  auto& value = limits.*Group.*Member;
  using Value = std::remove_reference_t<decltype(value)>;
  if constexpr (requires { value.count(); }) {
    value = Value(static_cast<typename Value::rep>(number));
  } else {
    value = static_cast<Value>(number);
  }
}

template <auto Member>
constexpr ClientLimit http_limit(Limit limit, std::string_view key, ClientLimit::Unit unit,
                                 std::uint64_t min, std::uint64_t max, std::string_view help) {
  constexpr auto kGroup = &ClientLimits::http;
  return {limit, key, unit, min, max, get<kGroup, Member>, set<kGroup, Member>, help};
}

template <auto Member>
constexpr ClientLimit ws_limit(Limit limit, std::string_view key, ClientLimit::Unit unit,
                               std::uint64_t min, std::uint64_t max, std::string_view help) {
  constexpr auto kGroup = &ClientLimits::ws;
  return {limit, key, unit, min, max, get<kGroup, Member>, set<kGroup, Member>, help};
}

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kSecond = 1000;
constexpr std::uint64_t kHour = 3600 * kSecond;
constexpr auto kCount = ClientLimit::Unit::count;
constexpr auto kBytes = ClientLimit::Unit::bytes;
constexpr auto kTime = ClientLimit::Unit::milliseconds;

// clang-format off
constexpr std::array kLimits = {
    http_limit<&HttpLimits::connections>(Limit::connections, "web.max_connections", kCount, 1, 100'000,
        "Open HTTP connections. One more takes the place of the oldest without a complete request; a request beyond three quarters of them that of a response that is not read, else it gets status 503."),
    http_limit<&HttpLimits::per_address>(Limit::per_address, "web.max_connections_per_address", kCount, 1, 100'000,
        "Open connections of one address other than loopback, WebSockets included; one more is closed."),
    http_limit<&HttpLimits::reserved>(Limit::reserved, "web.reserved_connections", kCount, 0, 1000,
        "Connections beyond web.max_connections; so many loopback requests of /metrics, /-/healthy and /-/ready are served when others are not."),
    http_limit<&HttpLimits::head_bytes>(Limit::head_bytes, "web.max_head_bytes", kBytes, kKiB, 64 * kKiB,
        "Size of a request; a larger one gets status 431. Bodies are never accepted."),
    http_limit<&HttpLimits::target_bytes>(Limit::target_bytes, "web.max_target_bytes", kBytes, 256, 64 * kKiB,
        "Length of path and query; a longer one gets status 414."),
    http_limit<&HttpLimits::header_bytes>(Limit::header_bytes, "web.max_header_bytes", kBytes, 256, 64 * kKiB,
        "Size of one header; a larger one gets status 431."),
    http_limit<&HttpLimits::headers>(Limit::headers, "web.max_headers", kCount, 8, 1000,
        "Headers of a request; one more gets status 431."),
    http_limit<&HttpLimits::pipelined>(Limit::pipelined, "web.max_pipelined", kCount, 1, 100'000,
        "Requests that a client sends without waiting for responses; then the connection is closed."),
    http_limit<&HttpLimits::waiting>(Limit::waiting, "web.max_waiting", kCount, 1, 10'000,
        "Requests that wait for stored alerts or an analysis; one more gets status 503."),
    http_limit<&HttpLimits::unsent_bytes>(Limit::unsent_bytes, "web.max_unsent_bytes", kBytes, kMiB, 4096 * kMiB,
        "Responses that clients have not read yet, together; one more gets status 503."),
    http_limit<&HttpLimits::send_buffer>(Limit::send_buffer, "web.send_buffer_bytes", kBytes, 4 * kKiB, 16 * kMiB,
        "What the kernel keeps for a client that does not read."),
    http_limit<&HttpLimits::min_rate>(Limit::min_rate, "web.min_rate", kBytes, 0, 1024 * kMiB,
        "Bytes per second of a response that a client has to read, on average over each web.write_timeout."),
    http_limit<&HttpLimits::header>(Limit::header_time, "web.header_timeout", kTime, 10, kHour,
        "From the first byte of a request to its last, and for the first request on a connection."),
    http_limit<&HttpLimits::idle>(Limit::idle_time, "web.idle_timeout", kTime, 10, kHour,
        "Without a request."),
    http_limit<&HttpLimits::answer>(Limit::answer_time, "web.answer_timeout", kTime, 10, kHour,
        "For stored alerts, an analysis or a chart; then the request gets status 503. A trace has web.request_timeout."),
    http_limit<&HttpLimits::write>(Limit::write_time, "web.write_timeout", kTime, 10, kHour,
        "In which a client reads at least its web.min_rate."),
    http_limit<&HttpLimits::request>(Limit::request_time, "web.request_timeout", kTime, 10, 24 * kHour,
        "From a complete request to the end of its response; four seconds more for each MiB of a trace."),
    http_limit<&HttpLimits::metrics>(Limit::metrics_interval, "web.metrics_interval", kTime, 0, 60 * kSecond,
        "/metrics is rendered at most once in this time, however often it is read."),
    ws_limit<&WsLimits::subscribers>(Limit::subscribers, "stream.max_subscribers", kCount, 1, 100'000,
        "Open WebSockets; one more gets status 503."),
    ws_limit<&WsLimits::message_bytes>(Limit::message_bytes, "stream.max_message_bytes", kBytes, 128, kMiB,
        "Size of a message of a client; a larger one closes with 1009."),
    ws_limit<&WsLimits::messages_per_second>(Limit::message_rate, "stream.max_message_rate", kCount, 1, 100'000,
        "Messages, pings and pongs of a client per second; more close with 1008."),
    ws_limit<&WsLimits::names>(Limit::names, "stream.max_names", kCount, 1, kMostSubscribers,
        "Subscriber names whose position is kept; one more takes the place of the one unused for longest."),
    ws_limit<&WsLimits::queue_bytes>(Limit::queue_bytes, "stream.queue_bytes", kBytes, 64 * kKiB, 256 * kMiB,
        "A client with more unread than this for stream.lag_timeout is disconnected with 1013, and resumes by sequence number."),
    ws_limit<&WsLimits::lag_time>(Limit::lag_time, "stream.lag_timeout", kTime, 0, kHour,
        "See stream.queue_bytes."),
    ws_limit<&WsLimits::stall>(Limit::stall_time, "stream.stall_timeout", kTime, 10, kHour,
        "A client that accepts no byte for this long is disconnected with 1013."),
    ws_limit<&WsLimits::ping>(Limit::ping_interval, "stream.ping_interval", kTime, 10, kHour,
        "A client that says nothing for this long is sent a ping; after two without an answer it is dropped."),
};
// clang-format on

constexpr bool in_order() {
  for (std::size_t i = 0; i < kLimits.size(); ++i) {
    if (kLimits[i].limit != static_cast<Limit>(i)) return false;
  }
  return kLimits.size() == static_cast<std::size_t>(Limit::count_);
}
static_assert(in_order());

}  // namespace

std::span<const ClientLimit> client_limits() {
  return kLimits;
}

}  // namespace trainwatch
