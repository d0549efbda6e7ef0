// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "daemon/app/app_impl.h"

namespace trainwatch {

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
    log->error(
        "the state is damaged or gone; exiting so that a restart can repair it or begin anew",
        {{"error", what}});
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

void App::Impl::passed(TailReport report) {
  for (const std::string& root : report.missing_roots) {
    if (std::ranges::find(missing, root) == missing.end()) {
      log->warn("a watched path does not exist; waiting for it", {{"path", root}});
    }
  }
  missing = report.missing_roots;
  for (const SkippedPaths::Skipped& each : report.skipped.first()) {
    // Files of other things are usual; the status names them.
    const bool usual =
        each.reason == SkipReason::no_known_format || each.reason == SkipReason::not_looked_at;
    if (usual || skipped.size() >= SkippedPaths::kKept || !skipped.insert(each).second) continue;
    const LogField path{"path", each.path};
    const LogField reason{"reason", std::string(to_string(each.reason))};
    if (each.of.empty()) {
      log->info("not read", {path, reason});
    } else {
      log->info("not read", {path, reason, {"of", each.of}});
    }
  }
  engine->pass_done(std::move(report));
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
    log->info("first scan done", {{"active_alerts", std::to_string(snapshot->alerts_firing)}});
  }
  if (console != nullptr) console->show(*snapshot);
  notifier->show(snapshot, draining.begun());
  server->show(std::move(snapshot));
  const bool on_terminal = console != nullptr && console->shows_state();
  engine->set_audience(on_terminal || notifier->pushes_metrics() || server->has_subscribers());
}

}  // namespace trainwatch
