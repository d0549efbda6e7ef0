// The listener for pages, metrics, API and WebSocket. Everything here runs on the thread of the
// io_context.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/net/alert_hub.h"
#include "daemon/net/engine_client.h"
#include "trainwatch/result.h"
#include "trainwatch/snapshot.h"

namespace boost::asio {
class io_context;
}

namespace trainwatch {

struct HttpLimits {
  std::size_t connections = 256;             // HTTP and WebSocket together
  std::chrono::milliseconds header{5'000};   // from the first byte of a request to its last
  std::chrono::milliseconds idle{30'000};    // between requests
  std::chrono::milliseconds answer{10'000};  // for the engine thread to respond, then 503
  std::chrono::milliseconds write{10'000};   // without the client accepting a byte
};

struct WsLimits {
  std::size_t subscribers = 128;
  std::size_t message_bytes = 4096;   // from a client
  unsigned messages_per_second = 20;  // from a client, control frames included
  std::chrono::milliseconds heartbeat{5'000};
  std::chrono::milliseconds ping{20'000};   // of silence; a client that misses two pings is dropped
  std::chrono::milliseconds status{1'000};  // at most one status frame per interval
  std::uint64_t queue_bytes = 4U << 20U;    // a client that was live and stays further behind ...
  std::chrono::milliseconds lag_time{5'000};  // ... for this long is closed with 1013
  std::chrono::milliseconds stall{30'000};    // as is one that accepts no byte for this long
  std::chrono::milliseconds acks{1'000};      // acknowledgements are stored within this time
  std::chrono::milliseconds close{1'000};     // for the close handshake, then the connection is cut
};

struct NetOptions {
  std::string host = "127.0.0.1";          // an address, or "localhost"
  std::uint16_t port = 9797;               // 0: any free one
  std::vector<std::string> allowed_hosts;  // names accepted in Host besides loopback's own
  HttpLimits http;
  WsLimits ws;
};

class NetServer {
 public:
  // `hub` and `io` must outlive the server, and `hub` every run of `io`.
  NetServer(boost::asio::io_context& io, NetOptions options, AlertHub& hub,
            AlertStoreClient alert_store, AnalysisSource analyses = {});
  ~NetServer();

  // Binds and accepts from now on. Fails if the address cannot be used.
  Status listen();
  // The port in use; 0 before listen().
  std::uint16_t port() const;

  // What /metrics, /api/v1/status, /-/ready and status frames show from now on; its steps are sent
  // at once to clients that want them. Call about once a second.
  void show(std::shared_ptr<const Snapshot> snapshot);

  // Stores what subscribers have acknowledged so far; call before the store closes.
  void store_acknowledged();

  // Stops accepting, closes WebSocket clients with 1001 and everything else; the io_context runs
  // out of work within WsLimits::close. Idempotent.
  void close();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainwatch
