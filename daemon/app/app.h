// `trainwatch run`: puts the three threads together. main is the net thread: signals, HTTP,
// WebSocket, systemd. See engine_thread.h and reader.h for the other two.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "daemon/app/open_store.h"
#include "daemon/config/config.h"
#include "trainwatch/result.h"

namespace trainwatch {

struct RunOptions {
  Config config{RuleCatalog{}};  // at the start, loaded from the two below; a reload loads again
  std::string config_file{};     // empty: the defaults
  ConfigFlags flags{};
};

// The running daemon. start() returns once it listens; run() serves until stop() or a signal.
// Tests use it in their own process.
class App {
 public:
  explicit App(RunOptions options);
  ~App();

  // Opens state directory and listener as configured, starts the threads.
  std::optional<StartFailure> start();
  // Serves on the calling thread; returns the exit code after a shutdown.
  int run();

  std::uint16_t port() const;
  // Any thread: begins the shutdown.
  void stop();
  // Net thread: reads the configuration again. On an error everything stays as it was.
  Status reload();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The whole command; returns its exit code.
int run_app(const RunOptions& options);

}  // namespace trainwatch
