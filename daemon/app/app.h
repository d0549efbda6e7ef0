// SPDX-License-Identifier: Apache-2.0
// `trainwatch run`: connects the three threads. The main thread is the net thread: signals, HTTP,
// WebSocket, systemd. See engine_thread.h and reader.h for the others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "daemon/app/console.h"
#include "daemon/app/open_store.h"
#include "daemon/config/config.h"

namespace trainwatch {

struct RunOptions {
  Config config{RuleCatalog{}};  // at the start, loaded from the two below; a reload loads it again
  std::string config_file{};     // empty: the defaults
  ConfigFlags flags{};
  std::optional<ConsoleOptions> console{};  // absent: standard output stays empty
};

// The running daemon. start() returns once it listens; run() serves until a signal. The process is
// its own: it gives up rights for good.
class App {
 public:
  explicit App(RunOptions options);
  ~App();

  // Opens the state directory and the listener as configured, and starts the threads.
  std::optional<StartFailure> start();
  // Serves on the calling thread; returns the exit code after shutdown.
  int run();

  std::uint16_t port() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The whole command; returns its exit code.
int run_app(const RunOptions& options);

}  // namespace trainwatch
