// SPDX-License-Identifier: Apache-2.0
// The listener for pages, metrics, API and WebSocket. Everything here runs on the thread of the
// io_context.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/access/access.h"
#include "daemon/net/alert_hub.h"
#include "daemon/net/client_limits.h"
#include "daemon/net/engine_client.h"
#include "daemon/net/stream_protocol.h"
#include "trainwatch/result.h"
#include "trainwatch/snapshot.h"

namespace boost::asio {
class io_context;
}

namespace trainwatch {

struct NetOptions {
  std::string host = "127.0.0.1";          // an address, or "localhost"
  std::uint16_t port = 0;                  // 0: any free one
  std::vector<std::string> allowed_hosts;  // names accepted in Host besides loopback's own
  std::vector<std::string> rules;          // that a client may ask for; empty: any
  ClientLimits limits;
  std::shared_ptr<const Access> access = std::make_shared<const Access>();  // not null
};

class NetServer {
 public:
  // `hub` and `io` must outlive the server, and `hub` every run of `io`.
  NetServer(boost::asio::io_context& io, NetOptions options, AlertHub& hub,
            AlertStoreClient alert_store, DataSources sources = {});
  ~NetServer();

  // Binds and accepts from now on. Fails if the address cannot be used.
  Status listen();
  // The port in use; 0 before listen().
  std::uint16_t port() const;

  // What /metrics, /api/v1/status, /-/ready and status frames show from now on; its steps are sent
  // at once to clients that want them. Call about once a second.
  void show(std::shared_ptr<const Snapshot> snapshot);

  // Sends `news` to the clients of the stream `tensors`, if there are any.
  void publish_tensors(TensorNews news);
  bool wants_tensors() const;

  bool has_subscribers() const;
  // Whether a WebSocket client still takes alerts that only the store has; close() would cut it.
  bool needs_store() const;
  // TLS for new connections, and everything else for new requests.
  void set_access(std::shared_ptr<const Access> access);
  // A password is being checked, which cannot be interrupted: destroying this waits for it.
  bool checks_password() const;

  // Metrics of this thread and the process, which the snapshot lacks.
  std::vector<MetricFamily> metrics() const;

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
