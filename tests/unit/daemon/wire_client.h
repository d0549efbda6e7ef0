// SPDX-License-Identifier: Apache-2.0
// Clients that speak HTTP and WebSocket over a plain socket, byte by byte, so that nothing of the
// server's library checks itself.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "tests/support/patience.h"

namespace trainwatch {

// A blocking connection; nothing waits longer than kPatience. Port 0: not connected yet.
class Wire {
 public:
  explicit Wire(std::uint16_t port, int receive_buffer = 0)
      : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval limit{kPatience.count(), 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    const int yes = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (receive_buffer > 0) {
      setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    if (port != 0) connect_to(port);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire() { ::close(fd_); }

  void connect_to(std::uint16_t port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
      throw std::runtime_error("cannot connect");
    }
  }
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  // Nothing at the end of the stream, after a reset, or when kPatience is over.
  std::optional<std::string> take(std::size_t size) {
    while (buffer_.size() < size) {
      if (!fill()) return std::nullopt;
    }
    auto taken = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return taken;
  }
  std::optional<std::string> take_until(std::string_view end) {
    std::size_t at = 0;
    while ((at = buffer_.find(end)) == std::string::npos) {
      if (!fill()) return std::nullopt;
    }
    return take(at + end.size());
  }
  bool at_end() { return buffer_.empty() && !fill(); }

 private:
  bool fill() {
    char chunk[65536];
    const auto n = ::recv(fd_, chunk, sizeof chunk, 0);
    if (n <= 0) return false;
    buffer_.append(chunk, static_cast<std::size_t>(n));
    return true;
  }

  int fd_;
  std::string buffer_;
};

struct Reply {
  int status = 0;  // 0: no response
  std::string head;
  std::string body;

  std::string header(const std::string& name) const {
    const auto at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto start = at + name.size() + 4;
    return head.substr(start, head.find("\r\n", start) - start);
  }
};

inline Reply read_response(Wire& wire, bool with_body = true) {
  Reply response;
  const auto head = wire.take_until("\r\n\r\n");
  if (!head) return response;
  response.head = *head;
  response.status = std::stoi(head->substr(9, 3));
  const auto length = response.header("Content-Length");
  if (with_body && !length.empty()) response.body = wire.take(std::stoul(length)).value_or("(cut)");
  return response;
}

inline Reply ask(std::uint16_t port, const std::string& request) {
  Wire wire(port);
  wire.send(request);
  return read_response(wire, !request.starts_with("HEAD"));
}

inline Reply get(std::uint16_t port, const std::string& target, const std::string& headers = "") {
  return ask(port, "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
}

// The client's side of RFC 6455.
class WsClient {
 public:
  struct Message {
    int opcode = -1;  // -1: the connection is gone
    std::string data;
    // Of a close frame.
    int close_code() const {
      if (opcode != 8 || data.size() < 2) return 0;
      return static_cast<unsigned char>(data[0]) * 256 + static_cast<unsigned char>(data[1]);
    }
  };

  explicit WsClient(std::uint16_t port, const std::string& query = "",
                    const std::string& headers = "", int receive_buffer = 0)
      : wire_(port, receive_buffer) {
    wire_.send("GET /api/v1/stream" + query +
               " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
               headers + "\r\n");
    reply_ = read_response(wire_, false);
  }

  const Reply& response() const { return reply_; }

  void send(const std::string& text, int opcode = 1) {
    std::string frame{static_cast<char>(0x80 | opcode)};
    if (text.size() < 126) {
      frame += static_cast<char>(0x80 | text.size());
    } else {
      frame += static_cast<char>(0x80 | 126);
      frame += static_cast<char>(text.size() >> 8U);
      frame += static_cast<char>(text.size() & 255U);
    }
    wire_.send(frame + std::string(4, '\0') + text);  // a mask of zeros changes nothing
  }

  // The next frame, pongs included; pings are not answered.
  Message read_frame() {
    const auto head = wire_.take(2);
    if (!head) return {};
    std::size_t size = static_cast<unsigned char>((*head)[1]) & 0x7fU;
    if (size >= 126) {
      const auto more = wire_.take(size == 126 ? 2 : 8);
      if (!more) return {};
      size = 0;
      for (const char c : *more) size = size * 256 + static_cast<unsigned char>(c);
    }
    auto data = wire_.take(size);
    if (!data) return {};
    return {(*head)[0] & 0x0f, std::move(*data)};
  }

  // The next message that is not a heartbeat.
  Message read() {
    while (true) {
      auto message = read_frame();
      if (message.opcode == 9) continue;
      if (message.opcode != 1 || message.data.find(R"("op":"heartbeat")") == std::string::npos) {
        return message;
      }
    }
  }
  std::string text() { return read().data; }

 private:
  Wire wire_;
  Reply reply_;
};

}  // namespace trainwatch
