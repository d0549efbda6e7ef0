// SPDX-License-Identifier: Apache-2.0
#include "commands/sample/interval_loop.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>

#include "pipeline/tail/file_handle.h"

namespace trainwatch {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

timespec to_timespec(Nanos time) {
  return {time.count() / kSecond, time.count() % kSecond};
}

Nanos monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Nanos{std::int64_t{now.tv_sec} * kSecond + now.tv_nsec};
}

// Blocks the two signals that mean "stop" and restores the mask at the end.
class StopSignals {
 public:
  StopSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
    file_ = FileHandle(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~StopSignals() {
    // Take the signal that ended the loop, or it would end the process on unblocking.
    signalfd_siginfo info;
    while (file_.valid() && read(file_.get(), &info, sizeof info) == sizeof info) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  int descriptor() const { return file_.get(); }

 private:
  sigset_t before_{};
  FileHandle file_;
};

FileHandle periodic_timer(Nanos first, Nanos interval) {
  FileHandle timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  const itimerspec when{to_timespec(interval), to_timespec(first)};
  timerfd_settime(timer.get(), TFD_TIMER_ABSTIME, &when, nullptr);
  return timer;
}

}  // namespace

Status run_at_interval(const LoopLimits& limits, const std::function<Status(Nanos)>& tick) {
  const StopSignals signals;
  FileHandle process;
  if (limits.pid > 0) {
    process = FileHandle(static_cast<int>(syscall(SYS_pidfd_open, limits.pid, 0)));
    if (!process.valid()) {
      return Error{"process " + std::to_string(limits.pid) + ": " + std::strerror(errno)};
    }
  }
  const Nanos start = monotonic_now();
  if (Status first = tick(start); !first) return first;
  const FileHandle timer = periodic_timer(start + limits.interval, limits.interval);
  std::array<pollfd, 3> waits{{{timer.get(), POLLIN, 0},
                               {signals.descriptor(), POLLIN, 0},
                               {process.get(), POLLIN, 0}}};  // poll() skips a negative one
  while (true) {
    if (poll(waits.data(), waits.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return Error{std::string("poll: ") + std::strerror(errno)};
    }
    if (waits[1].revents != 0 || waits[2].revents != 0) return success();
    std::uint64_t expirations = 0;
    if (read(timer.get(), &expirations, sizeof expirations) != sizeof expirations) continue;
    const Nanos now = monotonic_now();
    if (Status ticked = tick(now); !ticked) return ticked;
    if (limits.duration > Nanos{0} && now - start >= limits.duration) return success();
  }
}

}  // namespace trainwatch
