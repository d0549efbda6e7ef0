#include "daemon/app/app.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <set>

#include "daemon/app/access_watch.h"
#include "daemon/app/analysis_source.h"
#include "daemon/app/chart_source.h"
#include "daemon/app/daemon_clock.h"
#include "daemon/app/drain.h"
#include "daemon/app/engine_thread.h"
#include "daemon/app/guarded_thread.h"
#include "daemon/app/open_store.h"
#include "daemon/app/privileges.h"
#include "daemon/app/process_setup.h"
#include "daemon/app/reader.h"
#include "daemon/app/request_workers.h"
#include "daemon/app/sandbox.h"
#include "daemon/app/sandbox_paths.h"
#include "daemon/app/sd_notify.h"
#include "daemon/app/self_checks.h"
#include "daemon/app/store_client.h"
#include "daemon/app/tensor_watch.h"
#include "daemon/app/thread_options.h"
#include "daemon/app/watch_roots.h"
#include "daemon/config/config_text.h"
#include "daemon/exit_code.h"
#include "daemon/log_output.h"
#include "daemon/logging.h"
#include "daemon/net/alert_hub.h"
#include "daemon/net/engine_client.h"
#include "daemon/net/http_server.h"
#include "daemon/net/url.h"
#include "daemon/notify/notifier.h"
#include "daemon/notify/silence_api.h"
#include "daemon/repeating_timer.h"
#include "daemon/version.h"
#include "rules/catalog.h"

namespace trainwatch {
namespace {

// An engine that shows no sign of life for this long is stuck, and the watchdog is no longer fed.
constexpr auto kEngineSilence = std::chrono::seconds(10);

// How long a stop waits for file calls to return; half a second if one is known to hang.
constexpr auto kFileCallPatience = std::chrono::seconds(1);

// What a stop takes beside draining, at most.
constexpr auto kClosing = std::chrono::seconds(5);

}  // namespace

struct App::Impl {
  explicit Impl(RunOptions wanted) : options(std::move(wanted)) {}

  void open_log();
  Status change_user();
  void report(const OpenedStore& state);
  Status start_server(const ListenAddress& listen, const StateStore& store);
  Status start_engine(const Config& config, OpenedStore opened);
  void enter_sandbox();
  void watch_access();
  void access_changed(Result<LoadedAccess> loaded);
  EngineThread::Callbacks callbacks();
  Status start_notifier(const Config& config, const Acknowledged& acknowledged, const Notes& notes);
  NotifierOptions notifier_options(const Config& config) const;
  HttpResponse answer_silences(const HttpRequest& request);
  void passed(TailReport report);
  void wait_for_signals();
  void feed_watchdog();
  void print(const PublishedAlerts& alerts);
  void show(std::shared_ptr<Snapshot> snapshot);
  Status reload();
  Status reload_now();  // the same, and says so in the log and to systemd
  Drain::Stages drain_stages();
  void drain();
  void drained(Drain::Outcome outcome);
  void shut_down(std::chrono::milliseconds patience = kFileCallPatience);

  RunOptions options;
  boost::asio::io_context context{1};  // of the net thread
  boost::asio::signal_set signals{context};
  RepeatingTimer watchdog{context};
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

// Passes everything that the engine thread publishes to the net thread.
EngineThread::Callbacks App::Impl::callbacks() {
  EngineThread::Callbacks callbacks;
  callbacks.alerts = [this](PublishedAlerts alerts, std::uint64_t first_seq) {
    boost::asio::post(context, [this, first_seq, alerts = std::move(alerts)]() mutable {
      print(alerts);
      traces->published(alerts);
      hub->publish(std::move(alerts));
      hub->pruned(first_seq);
    });
  };
  callbacks.provisional = [this](PublishedAlerts alerts) {
    boost::asio::post(context, [this, alerts = std::move(alerts)] {
      print(alerts);
      hub->publish_provisional(alerts);
    });
  };
  callbacks.snapshot = [this](std::shared_ptr<Snapshot> snapshot) {
    boost::asio::post(
        context, [this, snapshot = std::move(snapshot)]() mutable { show(std::move(snapshot)); });
  };
  callbacks.store_failed = [this](const std::string& what) {
    log->error("cannot store state and alerts; retrying", {{"error", what}});
  };
  callbacks.store_recovered = [this] { log->info("storing state and alerts again"); };
  callbacks.store_broken = [this](const std::string& what) {
    log->error("the state is damaged; exiting so that a restart can repair it", {{"error", what}});
    boost::asio::post(context, [this] {
      code = exit_code::failed;
      shut_down();
    });
  };
  callbacks.dumps_requested = [this](const DumpRequest& request) {
    const auto text = [](std::size_t count) { return std::to_string(count); };
    log->info("a stall has opened: asked the job for dumps", {{"pipes", text(request.asked)},
                                                              {"unread", text(request.unread)},
                                                              {"failed", text(request.failed)},
                                                              {"error", request.error}});
  };
  return callbacks;
}

void App::Impl::open_log() {
  const std::optional<ConsoleOptions>& wanted = options.console;
  const bool shared = wanted && wanted->shares_terminal();
  log = std::make_unique<Logger>(options.config.log, STDERR_FILENO,
                                 shared ? wanted->err : TextStyle{});
  if (wanted) console = std::make_unique<Console>(*wanted, *log);
}

Status App::Impl::change_user() {
  if (const std::string& user = options.config.process.user; !user.empty()) {
    return become_user(user);
  }
  if (runs_as_root()) {
    log->warn("running as root, which is not needed; use --process.user or the service");
  }
  return success();
}

void App::Impl::report(const OpenedStore& state) {
  if (!state.lost.empty()) log->error("state was lost", {{"reason", state.lost}});
  if (!state.repaired.empty()) {
    log->error("the state was damaged and is repaired", {{"found", state.repaired}});
  }
  for (const std::string& note : state.notes) log->warn(note);
}

// Binds the listener; nobody is served before run().
Status App::Impl::start_server(const ListenAddress& listen, const StateStore& store) {
  const Config& config = options.config;
  hub = std::make_unique<AlertHub>(store.epoch(), store.first_seq(), store.last_seq());
  const StorageConfig& storage = config.storage;
  IncidentTraces incidents(storage.path + "/incidents",
                           {storage.incident_trace_bytes, storage.retention_age});
  if (const Status prepared = incidents.prepare(); !prepared)
    log->warn("traces of incidents cannot be kept", {{"error", prepared.error().message}});
  traces = std::make_unique<TraceMaker>(context, engine, workers.traces(), std::move(incidents),
                                        storage.path);
  tensors = std::make_unique<TensorWatch>(
      context, workers.tensors(), configured_input(config).roots,
      TensorWatch::Listeners{
          [this] { return server->wants_tensors(); },
          [this](TensorNews news) { server->publish_tensors(std::move(news)); }});
  NetOptions net = affordable(net_options(config, listen), *log);
  net.access = access.access;
  server = std::make_unique<NetServer>(
      context, std::move(net), *hub, store_client(context, engine, store.acknowledged()),
      DataSources{
          analysis_source(context, engine, workers.profiles(), watched),
          chart_source(context, engine),
          [this](TraceQuery query, DeferredResponse::Done done) {
            traces->answer(std::move(query), std::move(done));
          },
          [this](const HttpRequest& request) { return answer_silences(request); },
          config.web.enable_admin_api,
          config.web.enable_lifecycle ? [this] { return reload_now(); } : std::function<Status()>(),
          [this](TensorQuery query, DeferredResponse::Done done) {
            tensors->answer(std::move(query), std::move(done));
          }});
  return server->listen();
}

Status App::Impl::start_engine(const Config& config, OpenedStore opened) {
  IngestOptions input = configured_input(config);
  const std::vector<WatchRoot> roots = input.roots;
  for (const WatchRoot& root : roots) watched.push_back(root.path);
  for (const WatchConfig& watch : config.watch) {
    if (const std::string path = resolved_path(watch.path); path != lexical_path(watch.path))
      log->info("watching where a link leads", {{"link", watch.path}, {"path", path}});
  }
  engine = std::make_unique<EngineThread>(
      EngineThreadOptions{std::string(version()), config.enabled_rules(), std::move(input),
                          std::move(opened.lost), config.enabled_analyses(), config.web.debug,
                          config.input.forget_after, config.metrics,
                          config.hang.request_dump ? config.hang.pipe_prefix : std::string()},
      std::move(opened.store), callbacks());
  enter_sandbox();
  if (Status started = engine->start(); !started.ok()) return started;
  if (!engine->dropped_state().empty()) {
    log->warn("reading all files again", {{"reason", engine->dropped_state()}});
  }
  reader =
      std::make_unique<Reader>(reader_options(config, roots, engine->checkpoint()), engine->inbox(),
                               [this](TailReport report) { passed(std::move(report)); });
  return success();
}

Status App::Impl::start_notifier(const Config& config, const Acknowledged& acknowledged,
                                 const Notes& notes) {
  notifier = std::make_unique<Notifier>(
      Notifier::Surroundings{context, *hub, *log, wall_clock,
                             "trainwatch/" + std::string(version()),
                             [this] { return server->metrics(); },
                             [this](std::vector<SelfCondition> found) {
                               engine->notify_conditions(std::move(found));
                             }},
      store_client(context, engine), acknowledged, notes);
  if (Status configured = notifier->configure(notifier_options(config)); !configured) {
    return configured;
  }
  notifier->start();
  return success();
}

NotifierOptions App::Impl::notifier_options(const Config& config) const {
  NotifierOptions chosen{config.receivers, config.silences, config.web.external_url};
  if (chosen.base_url.empty()) {
    const std::string host = parse_listen_address(options.config.web.listen_address)->host;
    chosen.base_url =
        StreamUrl{host, std::to_string(server->port()), "", access.access->tls != nullptr}.origin();
  }
  return chosen;
}

HttpResponse App::Impl::answer_silences(const HttpRequest& request) {
  if (notifier == nullptr) return error_response(503);
  return trainwatch::answer_silences(notifier->silences(), request, wall_clock());
}

// Before the threads that read hostile bytes are started. A reload reads the configuration again.
void App::Impl::enter_sandbox() {
  const ProcessConfig& wanted = options.config.process;
  if (!options.own_process || !wanted.sandbox) return engine->show_sandbox("off");
  const Sandbox sandbox = trainwatch::enter_sandbox(sandbox_paths(options, watched, access));
  sandboxed = true;
  const std::string enforced = sandbox.enforced.empty() ? "nothing" : sandbox.enforced;
  if (sandbox.missing.empty()) {
    log->info("sandbox entered", {{"enforced", enforced}});
  } else {
    log->warn("the sandbox is not complete",
              {{"enforced", enforced}, {"missing", sandbox.missing}});
  }
  engine->show_sandbox(enforced);
}

void App::Impl::watch_access() {
  const WebConfig& web = options.config.web;
  if (web.config_file.empty()) return;
  const auto listen = parse_listen_address(web.listen_address);
  if (!access.access->tls && listen.ok() && !is_loopback(listen->host)) {
    log->warn("passwords can be read on their way: there is no tls_server_config",
              {{"file", web.config_file}});
  }
  access_watch = std::make_unique<AccessWatch>(
      context, web, access,
      [this](Result<LoadedAccess> loaded) { access_changed(std::move(loaded)); });
}

void App::Impl::access_changed(Result<LoadedAccess> loaded) {
  if (shutting_down) return;
  reloads.web_successful = loaded.ok();
  if (!loaded.ok()) {
    return log->error("web configuration not reloaded; keeping the old one",
                      {{"error", loaded.error().message}});
  }
  reloads.last_success = std::chrono::system_clock::now();
  if (static_cast<bool>(loaded->access->tls) != static_cast<bool>(access.access->tls)) {
    log->warn(loaded->access->tls ? "TLS is on from now on" : "TLS is off from now on");
  }
  log->info("web configuration reloaded", {{"file", options.config.web.config_file}});
  access = std::move(*loaded);
  server->set_access(access.access);
}

// On the reader's thread.
void App::Impl::passed(TailReport report) {
  for (const std::string& root : report.missing_roots) {
    if (std::ranges::find(missing, root) == missing.end()) {
      log->warn("a watched path does not exist; waiting for it", {{"path", root}});
    }
  }
  missing = report.missing_roots;
  for (const SkippedPaths::Skipped& each : report.skipped.first()) {
    if (skipped.size() >= SkippedPaths::kKept || !skipped.insert(each).second) continue;
    log->info("not read", {{"path", each.path}, {"reason", std::string(to_string(each.reason))}});
  }
  engine->pass_done(std::move(report));
}

void App::Impl::wait_for_signals() {
  signals.async_wait([this](boost::system::error_code failure, int signal) {
    if (failure || shutting_down) return;
    wait_for_signals();
    if (signal != SIGHUP) return draining.begun() ? shut_down() : drain();
    if (!draining.begun()) (void)reload_now();  // it is in the log
  });
}

Status App::Impl::reload_now() {
  service.reloading();
  Status reloaded = reload();
  if (reloaded) {
    log->info("configuration reloaded");
  } else {
    log->error("configuration not reloaded; keeping the old one",
               {{"error", reloaded.error().message}});
  }
  service.ready("watching");
  return reloaded;
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

void App::Impl::print(const PublishedAlerts& alerts) {
  if (console == nullptr) return;
  for (const PublishedAlertPtr& alert : alerts) console->show(*alert);
}

void App::Impl::show(std::shared_ptr<Snapshot> snapshot) {
  log->flush();
  app_metrics(reloads, log->losses(), snapshot->metrics);
  traces->collect(snapshot->metrics);
  notifier->collect(snapshot->metrics);
  if (snapshot->ready && !std::exchange(reported_ready, true)) {
    service.ready("watching");
    log->info("first scan done", {{"active_alerts", std::to_string(snapshot->active.size())}});
  }
  if (console != nullptr) console->show(*snapshot);
  notifier->show(snapshot, draining.begun());
  server->show(std::move(snapshot));
}

Status App::Impl::reload() {
  auto config = load_config(options.config_file, options.flags, rule_catalog());
  reloads.successful = false;
  if (!config.ok()) return config.error();
  if (options.config.receivers.empty() && !config->receivers.empty() && sandboxed) {
    return Error{
        "receivers: the sandbox of a trainwatch that was started without receivers allows "
        "no connections; restart it"};
  }
  if (Status changed = notifier->configure(notifier_options(*config)); !changed) return changed;
  reloads.successful = true;
  reloads.last_success = std::chrono::system_clock::now();
  log->configure(config->log);
  engine->reconfigure(config->enabled_rules());
  return success();
}

Drain::Stages App::Impl::drain_stages() {
  Drain::Stages stages;
  stages.read = [this](Drain::Done done) { reader->read_to_end(std::move(done)); };
  stages.judge = [this](Drain::Done done) {
    engine->conclude(options.config.process.ends_with_job, std::move(done));
  };
  stages.file_call = [this] { return reader->call_duration(); };
  stages.delivered = [this] { return !server->needs_store() && notifier->delivered(); };
  stages.finished = [this](Drain::Outcome outcome) { drained(outcome); };
  return stages;
}

void App::Impl::drain() {
  if (shutting_down || draining.begun()) return;
  const Nanos timeout = options.config.process.drain_timeout;
  if (timeout == Nanos{}) return shut_down();
  service.stopping(timeout + kClosing);
  log->info("reading the files to their end before stopping");
  draining.begin(timeout);
}

void App::Impl::drained(Drain::Outcome outcome) {
  if (outcome == Drain::Outcome::too_long) {
    log->warn("stopping before the end of the files; the next start resumes there",
              {{"process.drain_timeout", print_duration(options.config.process.drain_timeout)}});
  }
  shut_down(outcome == Drain::Outcome::hangs ? kFileCallPatience / 2 : kFileCallPatience);
}

// Stops reading, processes what was read, emits what is held back, closes sockets.
void App::Impl::shut_down(std::chrono::milliseconds patience) {
  if (std::exchange(shutting_down, true)) return;
  draining.stop();
  service.stopping(kClosing);
  log->info("stopping");
  signals.cancel();
  watchdog.stop();
  server->store_acknowledged();
  notifier->stop();
  engine->close_inbox();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  workers.request_stop();
  if (access_watch != nullptr) access_watch->request_stop();
  traces->stop();
  tensors->stop();
  const bool reader_hangs = !reader->stop(patience);
  engine->stop();
  if (!reader_hangs) reader.reset();
  const bool access_hangs = access_watch != nullptr && !access_watch->wait_stopped(deadline);
  hangs = !workers.wait_stopped(deadline) || reader_hangs || access_hangs || notifier->hangs();
  // The last alerts have been posted by now; sockets close after them.
  boost::asio::post(context, [this] {
    if (console != nullptr) console->end();
    server->close();
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

void App::stop() {
  boost::asio::post(impl_->context, [&impl = *impl_] { impl.drain(); });
}

Status App::reload() {
  return impl_->reload();
}

int run_app(const RunOptions& options) {
  ignore_signals_of_writes();
  say_why_at_termination();
  int code = exit_code::failed;
  run_guarded("main", [&] {
    std::optional<StartFailure> failure = check_limits();
    std::optional<App> app;
    if (!failure) {
      RunOptions own = options;
      own.own_process = true;
      failure = app.emplace(std::move(own)).start();
    }
    if (failure) LogOutput(STDERR_FILENO).write(failure->message);
    code = failure ? failure->exit_code : app->run();
  });
  return code;
}

}  // namespace trainwatch
