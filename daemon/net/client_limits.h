// SPDX-License-Identifier: Apache-2.0
// What one client, and all of them together, may use of trainwatch. Every limit is a row of one
// table: its setting, its bounds and its default come from there, as do `trainwatch_limit` and
// `trainwatch_limit_hits_total` on /metrics.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace trainwatch {

struct HttpLimits {
  // Extends `request` for bodies that are sent from disk: one second for so many bytes.
  static constexpr std::uint64_t kStoredRate = std::uint64_t{256} << 10U;

  std::size_t connections = 256;  // open at a time; WebSockets have their own limit
  std::size_t per_address = 32;   // of them, and WebSockets, from one address but loopback
  std::size_t reserved = 4;       // beyond `connections`, for loopback's metrics and health
  std::size_t head_bytes = 8192;  // request line and headers
  std::size_t target_bytes = 4096;
  std::size_t header_bytes = 4096;  // one header
  std::size_t headers = 64;
  std::size_t pipelined = 16;  // requests sent without waiting for the response
  std::size_t waiting = 16;    // requests that wait for the engine thread
  std::size_t unsent_bytes = std::size_t{64} << 20U;  // of all responses
  std::size_t send_buffer = std::size_t{256} << 10U;  // the kernel's, of one connection
  std::uint64_t min_rate = 1024;  // bytes a second that a client takes, in each period of `write`
  std::chrono::milliseconds header{5'000};    // until the first request is complete, and from the
                                              // first byte of each further one to its last
  std::chrono::milliseconds idle{30'000};     // between requests
  std::chrono::milliseconds answer{10'000};   // for the engine thread to respond, then 503
  std::chrono::milliseconds refresh{1000};    // for a new snapshot, then the latest is sent
  std::chrono::milliseconds write{10'000};    // see min_rate
  std::chrono::milliseconds request{30'000};  // from the complete request to the response's end
  std::chrono::milliseconds metrics{250};     // /metrics is rendered at most once in this time
};

struct WsLimits {
  std::size_t subscribers = 128;
  std::size_t message_bytes = 4096;           // from a client
  unsigned messages_per_second = 20;          // from a client, control frames included
  std::size_t names = 64;                     // whose position is kept
  std::uint64_t queue_bytes = 4U << 20U;      // a client that was live and stays further behind ...
  std::chrono::milliseconds lag_time{5'000};  // ... for this long is closed with 1013
  std::chrono::milliseconds stall{30'000};    // as is one that accepts no byte for this long
  std::chrono::milliseconds ping{20'000};     // of silence; who misses two pings is dropped
  // Not limits, and not settings but `heartbeat`:
  std::chrono::milliseconds heartbeat{5'000};
  std::chrono::milliseconds status{1'000};  // at most one status frame per interval
  std::chrono::milliseconds acks{1'000};    // acknowledgements are stored within this time
  std::chrono::milliseconds close{1'000};   // for the close handshake, then the connection is cut
};

struct ClientLimits {
  HttpLimits http;
  WsLimits ws;
};

// The rows of the table, in its order.
enum class Limit : std::uint8_t {
  connections,
  per_address,
  reserved,
  head_bytes,
  target_bytes,
  header_bytes,
  headers,
  pipelined,
  waiting,
  unsent_bytes,
  send_buffer,
  min_rate,
  header_time,
  idle_time,
  answer_time,
  write_time,
  request_time,
  metrics_interval,
  subscribers,
  message_bytes,
  message_rate,
  names,
  queue_bytes,
  lag_time,
  stall_time,
  ping_interval,
  count_
};

struct ClientLimit {
  enum class Unit : std::uint8_t { count, bytes, milliseconds };

  Limit limit;
  std::string_view key;  // of the setting, and the name of the limit on /metrics
  Unit unit;
  std::uint64_t min;
  std::uint64_t max;
  std::uint64_t (*get)(const ClientLimits&);
  void (*set)(ClientLimits&, std::uint64_t value);
  std::string_view help;  // what it limits, and what happens beyond
};

std::span<const ClientLimit> client_limits();

}  // namespace trainwatch
