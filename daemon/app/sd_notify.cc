// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/sd_notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "pipeline/tail/file_handle.h"

namespace trainwatch {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<long long> number_in(const char* name) {
  const std::string_view text = variable(name);
  long long number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  if (text.empty() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A newline would begin another assignment.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

ServiceNotifier::ServiceNotifier() : socket_(variable("NOTIFY_SOCKET")) {}

void ServiceNotifier::ready(std::string_view text) const {
  send("READY=1\nSTATUS=" + one_line(text));
}

void ServiceNotifier::reloading() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long long micros = static_cast<long long>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(micros));
}

void ServiceNotifier::stopping(Nanos at_most) const {
  const auto micros = std::chrono::ceil<std::chrono::microseconds>(at_most).count();
  send("STOPPING=1\nEXTEND_TIMEOUT_USEC=" + std::to_string(micros));
}

void ServiceNotifier::watchdog() const {
  send("WATCHDOG=1");
}

void ServiceNotifier::send(std::string_view message) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  if (socket_[0] != '/' && socket_[0] != '@') return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  const FileHandle file(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!file.valid()) return;
  // A service must not fail because its supervisor does not listen: errors are ignored.
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  (void)sendto(file.get(), message.data(), message.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&address), size);
}

std::optional<Nanos> watchdog_interval() {
  const auto micros = number_in("WATCHDOG_USEC");
  if (!micros || *micros <= 0) return std::nullopt;
  const auto pid = number_in("WATCHDOG_PID");
  if (pid && *pid != getpid()) return std::nullopt;
  return std::chrono::microseconds{*micros};
}

}  // namespace trainwatch
