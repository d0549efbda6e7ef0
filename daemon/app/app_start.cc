// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <boost/asio/post.hpp>

#include "daemon/app/analysis_source.h"
#include "daemon/app/app_impl.h"
#include "daemon/app/chart_source.h"
#include "daemon/app/daemon_clock.h"
#include "daemon/app/privileges.h"
#include "daemon/app/sandbox.h"
#include "daemon/app/sandbox_paths.h"
#include "daemon/app/store_client.h"
#include "daemon/app/thread_options.h"
#include "daemon/net/url.h"
#include "daemon/notify/silence_api.h"
#include "daemon/version.h"

namespace trainwatch {

void App::Impl::open_log() {
  const std::optional<ConsoleOptions>& wanted = options.console;
  const bool shared = wanted && wanted->shares_terminal();
  log = std::make_unique<Logger>(options.config.log, STDERR_FILENO,
                                 shared ? wanted->err : TextStyle{});
  if (wanted) console = std::make_unique<Console>(*wanted, *log, context);
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

// Finds out, before any file is read, what the last process died of.
void App::Impl::look_at_deaths(StateStore& store, const Notes& notes) {
  const auto left = decoding.open(options.config.storage.path);
  if (!left.ok()) {
    log->warn("files that kill trainwatch cannot be detected", {{"error", left.error().message}});
  }
  const std::string key(kSetAsideNote);
  const std::string known = notes.contains(key) ? notes.at(key) : std::string();
  set_aside->load(version(), known);
  std::vector<SetAside::Death> deaths;
  PosixFileSystem files(configured_input(options.config).roots);
  for (const DecodingMark::Place& place : left.ok() ? *left : std::vector<DecodingMark::Place>{}) {
    log->error("trainwatch died while it decoded a file",
               {{"file", place.path},
                {"bytes", std::to_string(place.from) + "-" + std::to_string(place.to)}});
    const auto found = files.stat(place.path);
    if (found.ok()) deaths.push_back({place.path, found->identity, place.from, place.to});
  }
  for (const std::string& path : set_aside->died(deaths)) {
    log->error("the file is set aside until trainwatch is reloaded", {{"file", path}});
  }
  std::string saved = set_aside->saved(version());
  if (saved == known) return;
  Commit commit;
  commit.now = wall_clock();
  commit.notes[key] = std::move(saved);
  if (const auto stored = store.commit(commit); !stored.ok()) {
    log->warn("what is set aside cannot be stored", {{"error", stored.error().message}});
  }
}

// Binds the listener; nobody is served before run().
Status App::Impl::start_server(const ListenAddress& listen, const StateStore& store) {
  const Config& config = options.config;
  hub = std::make_unique<AlertHub>(store.epoch(), store.first_seq(), store.last_seq());
  const StorageConfig& storage = config.storage;
  IncidentTraces incidents(storage.path + "/incidents",
                           {storage.incident_trace_bytes, storage.retention.age});
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
          [this](const HttpRequest& request) {
            if (notifier == nullptr) return error_response(503);
            return answer_silences(notifier->silences(), request, wall_clock());
          },
          config.web.enable_admin_api,
          config.web.enable_lifecycle ? [this] { return reload_now(); } : std::function<Status()>(),
          [this](TensorQuery query, DeferredResponse::Done done) {
            tensors->answer(std::move(query), std::move(done));
          },
          [this](const std::function<void()>& done) {
            if (engine == nullptr) return;
            engine->refresh([this, done] { boost::asio::post(context, done); });
          }});
  return server->listen();
}

Status App::Impl::start_engine(const Config& config, OpenedStore opened) {
  IngestOptions input = configured_input(config);
  IngestOptions read = input;
  input.decode_watch = &decoding.engine();
  read.decode_watch = &decoding.reader();
  for (const WatchRoot& root : read.roots) watched.push_back(root.path);
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
  ReaderOptions options_of_reader = reader_options(config, read, engine->checkpoint());
  options_of_reader.set_aside = set_aside;
  reader = std::make_unique<Reader>(std::move(options_of_reader), engine->inbox(),
                                    [this](TailReport report) { passed(std::move(report)); });
  return success();
}

// Before the threads that read hostile bytes are started. A reload reads the configuration again.
void App::Impl::enter_sandbox() {
  const ProcessConfig& wanted = options.config.process;
  if (!wanted.sandbox) return engine->show_sandbox("off");
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

}  // namespace trainwatch
