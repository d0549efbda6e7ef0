// SPDX-License-Identifier: Apache-2.0
// The floor under sending alerts to many subscribers: bare send() of a prepared frame to each.
//
//     fan_out_floor CONNECTIONS FRAMES BYTES
//
// prints a port, accepts so many connections, sends FRAMES frames of BYTES to each, one every 20
// ms, and prints the CPU seconds of the sends.
#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

#include "bench/loopback_client.h"

namespace {

namespace bench = trainwatch::bench;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const auto clients = bench::accept_clients(std::strtoul(argv[1], nullptr, 10));
  const auto frames = std::strtoul(argv[2], nullptr, 10);
  const std::string frame(std::strtoul(argv[3], nullptr, 10), 'x');
  const double begun = cpu_seconds();
  for (std::size_t i = 0; i < frames; ++i) {
    for (const int client : clients) {
      bench::check(send(client, frame.data(), frame.size(), MSG_NOSIGNAL) > 0, "send");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::printf("%.6f\n", cpu_seconds() - begun);
  return 0;
}
