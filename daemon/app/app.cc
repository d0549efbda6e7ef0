// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/app.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

#include "daemon/app/app_impl.h"
#include "daemon/app/guarded_thread.h"
#include "daemon/app/process_setup.h"
#include "daemon/app/thread_options.h"
#include "daemon/log_output.h"
#include "daemon/net/url.h"

namespace trainwatch {
namespace {

// An engine that shows no sign of life for this long is stuck, and the watchdog is no longer fed.
constexpr auto kEngineSilence = std::chrono::seconds(10);

}  // namespace

void App::Impl::wait_for_signals() {
  signals.async_wait([this](boost::system::error_code failure, int signal) {
    if (failure || shutting_down) return;
    wait_for_signals();
    if (signal != SIGHUP) return draining.begun() ? shut_down() : drain();
    if (!draining.begun()) (void)reload_now();  // it is in the log
  });
}

void App::Impl::feed_watchdog() {
  const auto interval = watchdog_interval();
  if (!interval) return;
  watchdog.start(*interval / 2, [this] {
    const auto silence = std::chrono::steady_clock::now() - engine->last_heartbeat();
    if (draining.begun() || silence < kEngineSilence) {
      service.watchdog();
    }
  });
}

App::App(RunOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

App::~App() {
  if (impl_->reader == nullptr) return;
  impl_->shut_down();
  impl_->context.run();
}

std::optional<StartFailure> App::start() {
  Impl& impl = *impl_;
  // A signal that arrives before run() is handled there.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) impl.signals.add(signal);
  const auto failed = [](const Error& error, int code = exit_code::failed) {
    return StartFailure{code, error.message};
  };
  const Config& config = impl.options.config;
  const auto listen = parse_listen_address(config.web.listen_address);
  if (!listen.ok()) return failed(listen.error(), exit_code::bad_config);
  auto access = load_access(config.web);
  if (!access.ok()) return failed(access.error(), exit_code::bad_config);
  impl.access = std::move(*access);
  impl.open_log();
  if (const Status changed = impl.change_user(); !changed) {
    return failed(changed.error(), exit_code::bad_config);
  }
  auto opened = open_store(config.storage);
  if (auto* failure = std::get_if<StartFailure>(&opened)) return std::move(*failure);
  OpenedStore& state = std::get<OpenedStore>(opened);
  impl.report(state);
  const std::string epoch = state.store->epoch();
  const Acknowledged acknowledged = state.store->acknowledged();
  const Result<Notes> notes = state.store->load_notes();
  if (!notes.ok()) return failed(notes.error());
  impl.look_at_deaths(*state.store, *notes);
  if (Status bound = impl.start_server(*listen, *state.store); !bound.ok())
    return failed(bound.error());
  impl.reloads.last_success = std::chrono::system_clock::now();
  if (Status started = impl.start_engine(config, std::move(state)); !started.ok()) {
    return failed(started.error());
  }
  impl.watch_access();
  if (Status started = impl.start_notifier(config, acknowledged, *notes); !started.ok()) {
    return failed(started.error(), exit_code::bad_config);
  }
  impl.wait_for_signals();
  impl.feed_watchdog();
  impl.decoding_looks.start(DecodingMark::kLookEvery, [&impl] { impl.decoding.look(); });
  if (impl.console != nullptr)
    impl.console->started(
        StreamUrl{listen->host, std::to_string(port()), "", impl.access.access->tls != nullptr}
            .page(),
        impl.watched);
  impl.log->info("listening",
                 {{"address", listen->host + ":" + std::to_string(port())}, {"epoch", epoch}});
  return std::nullopt;
}

int App::run() {
  run_guarded("net", [this] { impl_->context.run(); });
  const bool hashes = impl_->server->checks_password();
  if (!impl_->hangs && !hashes) return impl_->code;
  // Everything is stored and published. Only the process can be ended, not the thread; on FUSE not
  // even the process, before the call returns, but the state is free for another process by now.
  if (impl_->hangs) impl_->log->warn("a file system call hangs; exiting without waiting for it");
  std::_Exit(impl_->code);
}

std::uint16_t App::port() const {
  return impl_->server->port();
}

int run_app(const RunOptions& options) {
  ignore_signals_of_writes();
  say_why_at_termination();
  int code = exit_code::failed;
  run_guarded("main", [&] {
    std::optional<StartFailure> failure = check_limits();
    std::optional<App> app;
    if (!failure) {
      failure = app.emplace(options).start();
    }
    if (failure) LogOutput(STDERR_FILENO).write(failure->message);
    code = failure ? failure->exit_code : app->run();
  });
  return code;
}

}  // namespace trainwatch
