// SPDX-License-Identifier: Apache-2.0
// Reports the state of the service to systemd: sd_notify(3) as one datagram to $NOTIFY_SOCKET,
// without libsystemd. Without systemd every call does nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainwatch/time.h"

namespace trainwatch {

class ServiceNotifier {
 public:
  // From the environment: $NOTIFY_SOCKET, a path or '@' and an abstract name.
  ServiceNotifier();
  explicit ServiceNotifier(std::string socket) : socket_(std::move(socket)) {}

  void ready(std::string_view status) const;
  // A reload begins; ready() ends it.
  void reloading() const;
  // The stop may take this long, whatever TimeoutStopSec= says.
  void stopping(Nanos at_most) const;
  void watchdog() const;

 private:
  void send(std::string_view message) const;
  std::string socket_;
};

// The maximum interval at which systemd expects watchdog() ($WATCHDOG_USEC, if meant for this
// process); callers use half of it. Empty: no watchdog.
std::optional<Nanos> watchdog_interval();

}  // namespace trainwatch
