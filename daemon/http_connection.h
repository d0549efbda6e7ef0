// One accepted connection that speaks HTTP, until it ends or becomes a WebSocket session.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "daemon/http_message.h"
#include "daemon/net_state.h"

namespace trainwatch {

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(std::shared_ptr<NetState> net, boost::asio::ip::tcp::socket socket);

  void start();
  void close();

 private:
  enum class Next { request, end };

  boost::asio::awaitable<void> run();
  boost::asio::awaitable<Next> serve_one();
  boost::asio::awaitable<void> refuse(int status);
  boost::asio::awaitable<bool> send(const HttpReply& reply, bool head_only, bool keep_alive);
  boost::asio::awaitable<void> linger();
  void upgrade(const HttpRequest& request);
  // Closes the socket unless it is moved on in time.
  void set_deadline(std::chrono::milliseconds time);

  std::shared_ptr<NetState> net_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  std::uint64_t deadline_ = 0;  // the one that counts; earlier ones are void
  std::string buffer_;          // received and not yet parsed
};

}  // namespace trainwatch
