// SPDX-License-Identifier: Apache-2.0
// What App consists of: the threads, in the order in which they are started. Each file app_*.cc has
// one part of it. Net thread only, unless a function says something else.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/app/access_watch.h"
#include "daemon/app/app.h"
#include "daemon/app/decoding_mark.h"
#include "daemon/app/drain.h"
#include "daemon/app/engine_thread.h"
#include "daemon/app/open_store.h"
#include "daemon/app/reader.h"
#include "daemon/app/request_workers.h"
#include "daemon/app/sd_notify.h"
#include "daemon/app/self_checks.h"
#include "daemon/app/set_aside.h"
#include "daemon/app/tensor_watch.h"
#include "daemon/app/trace_source.h"
#include "daemon/app/watch_roots.h"
#include "daemon/exit_code.h"
#include "daemon/logging.h"
#include "daemon/net/alert_hub.h"
#include "daemon/net/http_server.h"
#include "daemon/net/url.h"
#include "daemon/notify/notifier.h"
#include "daemon/repeating_timer.h"

namespace trainwatch {

struct App::Impl {
  explicit Impl(RunOptions wanted) : options(std::move(wanted)) {}

  // How long a stop waits for file calls to return; half a second if one is known to hang.
  static constexpr auto kFileCallPatience = std::chrono::seconds(1);

  // app.cc
  void wait_for_signals();
  void feed_watchdog();

  // app_start.cc, in this order
  void open_log();
  Status change_user();
  void report(const OpenedStore& state);
  void look_at_deaths(StateStore& store, const Notes& notes);
  Status start_server(const ListenAddress& listen, const StateStore& store);
  Status start_engine(const Config& config, OpenedStore opened);
  void enter_sandbox();
  void watch_access();
  Status start_notifier(const Config& config, const Acknowledged& acknowledged, const Notes& notes);
  NotifierOptions notifier_options(const Config& config) const;

  // app_publish.cc: what the other threads have to say
  EngineThread::Callbacks callbacks();
  void passed(TailReport report);  // on the reader's thread
  void print(const PublishedAlerts& alerts);
  void show(std::shared_ptr<Snapshot> snapshot);

  // app_reload.cc
  Status reload();
  Status reload_now();  // the same, and says so in the log and to systemd
  void access_changed(Result<LoadedAccess> loaded);

  // app_stop.cc
  Drain::Stages drain_stages();
  void drain();
  void drained(Drain::Outcome outcome);
  void shut_down(std::chrono::milliseconds patience = kFileCallPatience);

  RunOptions options;
  boost::asio::io_context context{1};  // of the net thread
  boost::asio::signal_set signals{context};
  RepeatingTimer watchdog{context};
  RepeatingTimer decoding_looks{context};
  ServiceNotifier service;
  ReloadState reloads;
  bool reported_ready = false;
  bool shutting_down = false;
  bool hangs = false;  // a thread is stuck in a file call or a lookup
  bool sandboxed = false;
  int code = exit_code::done;
  Drain draining{context, drain_stages()};

  std::vector<std::string> watched;         // paths
  std::vector<std::string> missing;         // those that do not exist; the reader's
  std::set<SkippedPaths::Skipped> skipped;  // what is not read; the reader's
  DecodingMark decoding;
  std::shared_ptr<SetAside> set_aside = std::make_shared<SetAside>();
  RequestWorkers workers{context, configured_input(options.config).roots};
  std::unique_ptr<Logger> log;
  std::unique_ptr<Console> console;  // null: none is wanted
  std::unique_ptr<AlertHub> hub;
  std::unique_ptr<NetServer> server;
  std::unique_ptr<Notifier> notifier;
  std::unique_ptr<EngineThread> engine;
  std::unique_ptr<TraceMaker> traces;
  std::unique_ptr<TensorWatch> tensors;
  LoadedAccess access;                        // at the start
  std::unique_ptr<AccessWatch> access_watch;  // null: there is no file
  std::unique_ptr<Reader> reader;             // last: it feeds the engine
};

}  // namespace trainwatch
