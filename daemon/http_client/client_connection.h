// SPDX-License-Identifier: Apache-2.0
// One connection of HttpClient, over TCP or over TLS.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>

#include "daemon/http_client/http_client.h"

namespace trainwatch {

struct Exchange {
  Result<ReceivedResponse> reply;
  bool reusable = false;   // the connection, for another request
  bool no_answer = false;  // it broke before the first byte of the response
};

class ClientConnection {
 public:
  using Request = boost::beast::http::request<boost::beast::http::string_body>;

  virtual ~ClientConnection() = default;

  // Connects to the first address that accepts, and shakes hands.
  virtual boost::asio::awaitable<Status> open(const HostResolver::Endpoints& endpoints) = 0;
  virtual boost::asio::awaitable<Exchange> exchange(const Request& request) = 0;
  // What is in progress ends with an error.
  virtual void close() = 0;
};

// `options` must outlive it. Fails if a certificate cannot be read.
Result<std::shared_ptr<ClientConnection>> make_client_connection(boost::asio::io_context& io,
                                                                 const HttpClientOptions& options);

}  // namespace trainwatch
