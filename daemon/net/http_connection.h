// SPDX-License-Identifier: Apache-2.0
// One accepted HTTP connection, until it ends or becomes a WebSocket session. It keeps itself alive
// and is in NetState::connections during that time.
#pragma once

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "daemon/access/login.h"
#include "daemon/net/client_stream.h"
#include "daemon/net/http_message.h"
#include "daemon/net/net_state.h"
#include "daemon/net/serialized_response.h"

namespace trainwatch {

class DeferredResponse;

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // `id` is its place in NetState::table, for a client at `from`.
  HttpConnection(std::shared_ptr<NetState> net, ClientStream stream, ClientAddress from,
                 ConnectionTable::Id id);

  void start();
  void close();

 private:
  using ErrorCode = boost::system::error_code;
  using Clock = ConnectionTable::Clock;

  void shake_hands();
  void hands_shaken(const ErrorCode& error);
  void wait_for_request();
  void wait_for_turn();
  static void next_turn(const std::shared_ptr<NetState>& net);
  void read_head();
  void head_received(const ErrorCode& error, std::size_t size);
  void read_body(HttpRequest request);
  void serve(HttpRequest request);
  void log_in(HttpRequest request);
  void logged_in(LoginAnswer answer, const HttpRequest& request);
  void answer_request(const HttpRequest& request);
  void wait_for(std::shared_ptr<DeferredResponse> response, const HttpRequest& request);
  void respond(HttpResponse response, bool head_only, bool keep_alive);
  void upgrade(const HttpRequest& request);
  // An error ends the connection.
  void refuse(int status);
  bool make_room(std::size_t bytes);  // of memory
  std::chrono::milliseconds time_to_send(std::uint64_t bytes) const;
  void send_rest();
  void sent();
  void linger();
  void discard();
  void enter(ConnectionTable::Phase phase);
  // expired() is called unless the deadline is moved in time.
  void set_deadline(std::chrono::milliseconds time, Limit limit);
  void expired();
  // The client reads as fast as it has to; if so, for another period.
  void start_write_period();
  bool reads_too_slowly() const;

  std::shared_ptr<NetState> net_;
  const HttpLimits& limits_;
  ClientStream stream_;
  ClientAddress from_;
  ConnectionTable::Id id_;
  bool vital_ = false;  // the request is one for which places are reserved
  boost::asio::steady_timer timer_;
  std::uint64_t deadline_ = 0;          // the valid one; earlier ones are void
  Limit waits_for_ = Limit::idle_time;  // what the deadline is about
  std::string input_;                   // received, not parsed yet
  std::size_t pipelined_ = 0;           // requests since input_ was last empty
  SerializedResponse output_;
  std::uint64_t sent_ = 0;         // of output_
  std::uint64_t sent_before_ = 0;  // when the write period began
  Clock::time_point request_end_;  // of the request being answered, at the latest
  bool keep_alive_ = true;
  std::shared_ptr<DeferredResponse> waiting_;  // not ready yet
  bool head_only_ = false;                     // of what waits
  Login::Ticket login_;                        // the password is being checked
  std::array<char, 1024> piece_{};             // of a request, or of what is discarded
  std::size_t discard_left_ = std::size_t{64} * 1024;
};

}  // namespace trainwatch
