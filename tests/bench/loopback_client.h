// SPDX-License-Identifier: Apache-2.0
// The server end of a loopback connection, for the floors that trainwatch is compared with.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace trainwatch::bench {

inline void check(bool good, const char* what) {
  if (good) return;
  std::perror(what);
  std::exit(1);
}

// Prints a port and accepts `count` connections.
inline std::vector<int> accept_clients(std::size_t count) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const where = reinterpret_cast<sockaddr*>(&address);
  check(bind(listener, where, size) == 0 && listen(listener, 4096) == 0, "listen");
  check(getsockname(listener, where, &size) == 0, "getsockname");
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  std::vector<int> clients;
  while (clients.size() < count) {
    clients.push_back(accept(listener, nullptr, nullptr));
    check(clients.back() >= 0, "accept");
    const int on = 1;
    setsockopt(clients.back(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return clients;
}

}  // namespace trainwatch::bench
