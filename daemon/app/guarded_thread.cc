// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/guarded_thread.h"

#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "daemon/exit_code.h"

namespace trainwatch {

void show_thread_name(std::string_view thread) noexcept {
  constexpr std::size_t kLongest = 15;          // of the kernel
  if (syscall(SYS_gettid) == getpid()) return;  // gettid() is not in every glibc that we run on
  std::array<char, kLongest + 1> name{};
  std::ranges::copy(thread.substr(0, kLongest), name.begin());
  pthread_setname_np(pthread_self(), name.data());
}

void end_process(std::string_view thread, const char* what) noexcept {
  std::array<char, 512> line{};
  const int size = std::snprintf(line.data(), line.size(),
                                 "trainwatch: the %.*s thread failed: %s; exiting, a restart "
                                 "continues where the last commit ended\n",
                                 static_cast<int>(thread.size()), thread.data(), what);
  pollfd room{STDERR_FILENO, POLLOUT, 0};
  if (size > 0 && poll(&room, 1, 0) == 1) {
    const std::size_t length =
        std::min<std::size_t>(static_cast<std::size_t>(size), line.size() - 1);
    (void)!write(STDERR_FILENO, line.data(), length);
  }
  std::_Exit(exit_code::failed);
}

}  // namespace trainwatch
