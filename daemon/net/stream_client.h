// SPDX-License-Identifier: Apache-2.0
// The client's end of /api/v1/stream: one connection at a time, opened again whenever it is lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "daemon/net/url.h"

namespace boost::asio::ssl {
class context;
}

namespace trainwatch {

struct StreamClientOptions {
  StreamUrl url;
  // For wss://: whom to trust, and as whom to appear; null: as the system does.
  std::shared_ptr<boost::asio::ssl::context> tls;
  std::string authorization;  // the value of the header; empty: none
  std::string server_name;    // that is expected in the certificate; empty: the host of the URL
  std::chrono::milliseconds first_wait;  // before a reconnection; doubles up to ...
  std::chrono::milliseconds last_wait;
};

// What a StreamClient calls, within run().
class StreamReader {
 public:
  virtual ~StreamReader() = default;

  // Path and query of the connection that is opened next.
  virtual std::string target() = 0;
  // A message of the server. False: enough was read, and run() returns.
  virtual bool received(const std::string& message) = 0;
  // The server answered with a status of 4xx. Another try would not help, and run() returns.
  virtual void refused(unsigned status) = 0;
  // No connection could be opened, or it was lost. Another try follows.
  virtual void failed(const std::string& why) = 0;
};

class StreamClient {
 public:
  StreamClient(const StreamClientOptions& options, StreamReader& reader);
  ~StreamClient();

  // Blocks until `reader` ends it, `stop` is requested, or SIGINT or SIGTERM arrives.
  void run(const std::stop_token& stop);

  // Reports to the server that everything up to `seq` was dealt with. Only within received(). What
  // is acknowledged in quick succession is sent as one: the server accepts 20 messages a second.
  void acknowledge(std::uint64_t seq);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainwatch
