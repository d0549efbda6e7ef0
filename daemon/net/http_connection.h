// One accepted HTTP connection, until it ends or becomes a WebSocket session. It keeps itself alive
// and is in NetState::connections during that time.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "daemon/net/http_message.h"
#include "daemon/net/net_state.h"

namespace trainwatch {

class DeferredResponse;

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(std::shared_ptr<NetState> net, boost::asio::ip::tcp::socket socket);

  void start();
  void close();

 private:
  using ErrorCode = boost::system::error_code;

  void wait_for_request();
  void read_head();
  void head_received(const ErrorCode& error, std::size_t size);
  void serve(const HttpRequest& request);
  void wait_for(std::shared_ptr<DeferredResponse> response, const HttpRequest& request);
  void respond(const HttpResponse& response, bool head_only, bool keep_alive);
  void upgrade(const HttpRequest& request);
  // An error ends the connection.
  void refuse(int status);
  void send(const HttpResponse& response, bool head_only, bool keep_alive);
  void send_rest();
  void linger();
  void discard();
  // expired() is called unless the deadline is moved in time.
  void set_deadline(std::chrono::milliseconds time);
  void expired();

  std::shared_ptr<NetState> net_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  std::uint64_t deadline_ = 0;  // the valid one; earlier ones are void
  std::string input_;           // received, not parsed yet
  std::string output_;
  std::size_t sent_ = 0;  // of output_
  bool keep_alive_ = true;
  std::shared_ptr<DeferredResponse> waiting_;  // not ready yet
  std::array<char, 1024> discarded_{};
  std::size_t discard_left_ = std::size_t{64} * 1024;
};

}  // namespace trainwatch
