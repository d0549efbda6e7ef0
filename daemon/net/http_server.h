// The one listener: pages, metrics, API and WebSocket of trainwatch. Runs on the thread that runs
// the io_context, as does everything here.
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
  std::chrono::milliseconds answer{10'000};  // for the archive to give what was asked, then 503
  std::chrono::milliseconds write{10'000};   // without one byte accepted by the client
};

struct WsLimits {
  std::size_t subscribers = 128;
  std::size_t message_bytes = 4096;   // from a client
  unsigned messages_per_second = 20;  // from a client, control frames included
  std::chrono::milliseconds heartbeat{5'000};
  std::chrono::milliseconds ping{20'000};     // of silence; a client that misses two is dropped
  std::chrono::milliseconds status{1'000};    // at most one status frame in this time
  std::uint64_t queue_bytes = 4U << 20U;      // a client that was live and stays further behind ...
  std::chrono::milliseconds lag_time{5'000};  // ... for this long is closed with 1013
  std::chrono::milliseconds stall{30'000};    // so is one that takes no byte for this long
  std::chrono::milliseconds acks{1'000};      // acknowledgements are stored within this time
  std::chrono::milliseconds close{1'000};     // for a close handshake, then the connection is cut
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
            AlertStoreClient archive, AnalysisSource analyses = {});
  ~NetServer();

  // Binds and accepts from now on. Fails when the address cannot be used.
  Status listen();
  // The port that is listened on; 0 before listen().
  std::uint16_t port() const;

  // What /metrics, /api/v1/status, /-/ready and status frames show from now on; its steps go to
  // those who want them at once. About once a second.
  void show(std::shared_ptr<const Snapshot> snapshot);

  // Stores what subscribers have acknowledged so far; for when the archive is about to close.
  void store_acknowledged();

  // Stops accepting, tells WebSocket clients 1001 and closes everything; the io_context runs out of
  // work within WsLimits::close. Idempotent.
  void close();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainwatch
