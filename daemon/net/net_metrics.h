// SPDX-License-Identifier: Apache-2.0
// Counters of the net thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "daemon/net/client_limits.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

// Why a WebSocket client was disconnected.
enum class Disconnect : std::uint8_t {
  client,    // the client closed the connection
  slow,      // it could not keep up: closed with 1013
  timeout,   // it did not answer pings
  protocol,  // it violated the protocol or a limit
  shutdown,  // trainwatch stops: closed with 1001
  network,   // the connection broke
  count_,
};

struct NetCounters {
  std::uint64_t ws_subscribers = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(Disconnect::count_)> ws_disconnects{};
  std::array<std::uint64_t, 5> http_requests{};  // by status class: 1xx .. 5xx
  std::uint64_t connections = 0;
  std::uint64_t connections_refused = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(Limit::count_)> limit_hits{};
  std::uint64_t provisional_dropped = 0;
  std::uint64_t tls_handshakes_failed = 0;
  std::uint64_t logins_refused = 0;
  std::uint64_t durable_subscribers = 0;
  std::uint64_t durable_subscribers_refused = 0;

  void count_disconnect(Disconnect why) { ++ws_disconnects[static_cast<std::size_t>(why)]; }
  void hit(Limit limit) { ++limit_hits[static_cast<std::size_t>(limit)]; }
  // A connection that is refused, or closed for another one, because of a limit.
  void refuse(Limit limit) {
    hit(limit);
    ++connections_refused;
  }
  void count_response(int status) { ++http_requests[static_cast<std::size_t>(status / 100 - 1)]; }
};

// The counters as metrics. A new one is one row of the table in net_metrics.cc.
std::vector<MetricFamily> net_metrics(const NetCounters& counters);

// Adds the limits of clients to the families `trainwatch_limit` and `trainwatch_limit_hits_total`,
// which the engine's snapshot has too.
void add_client_limits(const ClientLimits& limits, const NetCounters& counters,
                       std::vector<MetricFamily>& families);

}  // namespace trainwatch
