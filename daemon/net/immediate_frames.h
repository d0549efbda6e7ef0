// SPDX-License-Identifier: Apache-2.0
// Sends text frames of a WebSocket with a single system call, bypassing Beast, whose bookkeeping
// costs as much as the call itself. That matters when an alert goes to a thousand subscribers.
//
// Beast answers pings on its own, and neither its answer nor our frame may split the other. So a
// frame is sent this way only if the socket is certain to accept all of it, and never again once an
// answer may have had to wait. The kernel is asked how much it still holds only when that may be
// too much: asking costs 7 % of sending. One object per connection without TLS; used on the thread
// of the connection, and only while the caller has no other write in progress.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
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
  // Beast is about to write anything else.
  void before_write() { outstanding_ = kUnknown; }

 private:
  static constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();

  bool prepare(Socket& socket);
  bool has_room(Socket& socket);

  std::size_t most_ = 0;  // bytes of a frame, and of what the client has not acknowledged; 0: new
  // At most so many bytes are not acknowledged; kUnknown: the kernel must be asked.
  std::size_t outstanding_ = kUnknown;
  bool answer_may_wait_ = false;
};

}  // namespace trainwatch
