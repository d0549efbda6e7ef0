// SPDX-License-Identifier: Apache-2.0
// What a server answers to a client's bytes, over a real socket but without a thread: the test
// turns the event loop itself.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <string>
#include <string_view>

#include "daemon/net/http_server.h"
#include "fuzz/fuzz_target.h"
#include "unit/daemon/memory_alert_store.h"

namespace trainwatch::fuzz {

class ServerExchange {
 public:
  explicit ServerExchange(ClientLimits limits) : server_(io_, options(limits), hub_, store_.api()) {
    expect(server_.listen().ok(), "a server listens");
    server_.show(std::make_shared<const Snapshot>());
  }
  ServerExchange(const ServerExchange&) = delete;
  ServerExchange& operator=(const ServerExchange&) = delete;
  ~ServerExchange() { server_.close(); }

  // Everything the server sends to a client that sends `bytes`, in pieces of at most `most` bytes,
  // then, after an answer, `more`, and then no more.
  std::string answer(std::string_view bytes, std::size_t most, std::string_view more = {}) {
    const int client = ::socket(AF_INET, SOCK_STREAM, 0);
    const int yes = 1;
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    // Closes with a reset: otherwise ports stay in TIME_WAIT for a minute, until none is free.
    const linger reset{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(server_.port());
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool connected = ::connect(client, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    expect(connected, "a client connects");
    std::string heard;
    bool open = true;
    while (open && !bytes.empty()) {
      const auto piece = bytes.substr(0, most);
      bytes.remove_prefix(piece.size());
      if (::send(client, piece.data(), piece.size(), MSG_NOSIGNAL) < 0) break;
      open = turn(client, heard);
    }
    for (int turns = 0; open && !more.empty() && heard.empty() && turns < kTurns; ++turns) {
      open = turn(client, heard);
    }
    if (!more.empty() && ::send(client, more.data(), more.size(), MSG_NOSIGNAL) < 0) open = false;
    ::shutdown(client, SHUT_WR);
    for (int turns = 0; open && turns < kTurns; ++turns) open = turn(client, heard);
    expect(!open, "the server closes when the client has sent everything");
    ::close(client);
    return heard;
  }

 private:
  static constexpr int kTurns = 20'000;

  static NetOptions options(const ClientLimits& limits) {
    NetOptions options;
    options.port = 0;
    options.limits = limits;
    return options;
  }

  // False at the end of the connection.
  bool turn(int client, std::string& heard) {
    io_.restart();
    io_.poll();
    char part[65536];
    const auto size = ::recv(client, part, sizeof part, MSG_DONTWAIT);
    if (size > 0) heard.append(part, static_cast<std::size_t>(size));
    return size > 0 || (size < 0 && errno == EAGAIN);
  }

  boost::asio::io_context io_{1};
  MemoryAlertStore store_;
  AlertHub hub_{"epoch-1"};
  NetServer server_;
};

}  // namespace trainwatch::fuzz
