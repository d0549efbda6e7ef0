// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/immediate_frames.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <limits>

namespace trainwatch {
namespace {

constexpr std::size_t kMostAtOnce = 4096;
// The kernel counts more than the bytes of a frame against its buffer.
constexpr int kShareOfBuffer = 16;

// What is in the kernel's buffer; more than fits, if it does not say.
std::size_t queued(int socket) {
  int bytes = 0;
  if (::ioctl(socket, SIOCOUTQ, &bytes) != 0 || bytes < 0) {
    return std::numeric_limits<std::size_t>::max();
  }
  return static_cast<std::size_t>(bytes);
}

}  // namespace

bool ImmediateFrames::prepare(Socket& socket) {
  if (most_ > 0) return true;
  boost::system::error_code error;
  boost::asio::socket_base::send_buffer_size buffer;
  socket.get_option(buffer, error);
  if (!error) socket.non_blocking(true, error);  // else Asio would wait
  if (error) return false;
  most_ = std::min(kMostAtOnce, static_cast<std::size_t>(buffer.value() / kShareOfBuffer));
  return most_ > 0;
}

bool ImmediateFrames::has_room(Socket& socket) {
  if (answer_may_wait_ || !prepare(socket)) return false;
  if (outstanding_ > most_) outstanding_ = queued(socket.native_handle());
  return outstanding_ <= most_;
}

ImmediateFrames::Sent ImmediateFrames::send(Socket& socket, std::string_view head,
                                            std::string_view body) {
  constexpr std::size_t kShort = 125;  // of a length in one byte (RFC 6455, 5.2)
  const std::size_t size = head.size() + body.size();
  if (!has_room(socket) || size > most_) return Sent::nothing;
  const auto high = static_cast<unsigned char>(size >> 8U);
  const auto low = static_cast<unsigned char>(size & 0xFFU);
  const std::array<unsigned char, 4> header{0x81, size > kShort ? std::uint8_t{126} : low, high,
                                            low};  // a whole text, not masked
  const std::size_t header_size = size > kShort ? 4 : 2;
  const std::array<boost::asio::const_buffer, 3> parts{
      boost::asio::buffer(header.data(), header_size), boost::asio::buffer(head),
      boost::asio::buffer(body)};
  boost::system::error_code error;
  const std::size_t sent = socket.write_some(parts, error);
  if (sent == 0) return Sent::nothing;
  outstanding_ += sent;
  return sent == header_size + size ? Sent::whole : Sent::broken;
}

void ImmediateFrames::before_answer(Socket& socket) {
  answer_may_wait_ = !has_room(socket);
  before_write();
}

}  // namespace trainwatch
