// SPDX-License-Identifier: Apache-2.0
// An asynchronous HTTP/1.1 client for one target: POST over http or https, one request at a time.
// The connection is kept for the next request. Redirects are not followed, proxies not used.
//
// A request may reach the server twice: if a kept connection breaks before the first byte of the
// response, it is sent once more over a new one.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http_client/host_resolver.h"
#include "daemon/http_client/http_credentials.h"
#include "daemon/http_client/http_target.h"
#include "daemon/http_client/tls_client_config.h"
#include "trainwatch/result.h"

namespace trainwatch {

// The longest time that each phase of a request may take.
struct HttpClientLimits {
  std::chrono::milliseconds resolve{10'000};
  std::chrono::milliseconds connect{5'000};  // for each address of the host, at most four
  std::chrono::milliseconds handshake{5'000};
  std::chrono::milliseconds send{10'000};
  std::chrono::milliseconds response{
      10'000};                             // from the end of the request to that of the response
  std::chrono::milliseconds idle{30'000};  // a connection is not used again after this
  std::size_t response_bytes = 65536;      // of the body; what follows is not read
};

struct HttpClientOptions {
  HttpTarget target;
  HttpCredentials credentials{};
  TlsClientConfig tls{};
  std::string user_agent{};
  HttpClientLimits limits{};
};

struct HttpPost {
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};  // further ones
};

struct ReceivedResponse {
  int status = 0;
  std::string retry_after;  // the header, empty if there is none; see retry_after.h
  std::string body;         // its beginning
};

// For the thread that runs the io_context.
class HttpClient {
 public:
  // A response with any status, or why there is none. The error says what failed and where, without
  // the path of the URL or anything secret.
  using Done = std::function<void(Result<ReceivedResponse>)>;

  // `io` and `resolver` outlive it.
  HttpClient(boost::asio::io_context& io, HostResolver& resolver, HttpClientOptions options);
  // Abandons the request and closes the connection; `done` is then not called.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // `done` is called later, never within the call, and may post again. Not while busy().
  void post(HttpPost request, Done done);
  bool busy() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainwatch
