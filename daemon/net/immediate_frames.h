// Text frames of a WebSocket that are sent at once, with one system call past Beast, whose
// operations cost as much as the call: an alert goes to a thousand subscribers.
//
// Beast answers pings by itself, and must not be interrupted in the middle of that, nor a frame by
// it. So a frame is sent only where the socket takes all of it for certain, and not at all any more
// once an answer may have had to wait. For one connection without TLS, on its thread, and only
// while no other write of the caller is under way.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trainwatch {

class ImmediateFrames {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  enum class Sent : std::uint8_t {
    whole,
    nothing,  // Beast must send it
    broken,   // the connection is of no more use
  };

  // Two parts of one text.
  Sent send(Socket& socket, std::string_view head, std::string_view body);
  // Beast is about to answer the client.
  void before_answer(Socket& socket);

 private:
  bool prepare(Socket& socket);

  std::size_t most_ = 0;  // bytes of a frame, and of what the client has not acknowledged; 0: new
  bool answer_may_wait_ = false;
};

}  // namespace trainwatch
