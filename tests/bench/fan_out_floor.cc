// The floor under sending alerts to many subscribers: bare send() of a prepared frame to each.
//
//     fan_out_floor CONNECTIONS FRAMES BYTES
//
// prints a port, accepts so many connections, sends FRAMES frames of BYTES to each, one every 20
// ms, and prints the CPU seconds of the sends.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace {

void check(bool good, const char* what) {
  if (good) return;
  std::perror(what);
  std::exit(1);
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::vector<int> accept_all(std::size_t count) {
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const auto clients = accept_all(std::strtoul(argv[1], nullptr, 10));
  const auto frames = std::strtoul(argv[2], nullptr, 10);
  const std::string frame(std::strtoul(argv[3], nullptr, 10), 'x');
  const double begun = cpu_seconds();
  for (std::size_t i = 0; i < frames; ++i) {
    for (const int client : clients) {
      check(send(client, frame.data(), frame.size(), MSG_NOSIGNAL) > 0, "send");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::printf("%.6f\n", cpu_seconds() - begun);
  return 0;
}
