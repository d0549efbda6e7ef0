// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/self_checks.h"

#include <algorithm>

#include "daemon/version.h"

namespace trainwatch {
namespace {

// Commits are tried once a second, so this is one less than the longest wait.
constexpr auto kPatience = std::chrono::seconds(4);

// A job may create its directory after its sidecar has started.
constexpr double kMissing = 30;

// The reader reports every second unless a file call hangs.
constexpr auto kReaderHangs = std::chrono::seconds(15);

}  // namespace

void CommitHealth::succeeded(Clock::duration took) {
  durations_.observe(std::chrono::duration<double>(took).count());
  failure_.clear();
}

bool CommitHealth::failed(Clock::time_point now, const std::string& what) {
  if (failure_.empty()) failing_since_ = now;
  ++failures_;
  const bool news = failure_ != what;
  failure_ = what.empty() ? "unknown" : what;
  return news;
}

bool CommitHealth::provisional_due(Clock::time_point now) const {
  return degraded() && now - failing_since_ >= kPatience;
}

void CommitHealth::collect(const StateStore& store, std::vector<MetricFamily>& out) const {
  const HistogramBounds bounds = WaitHistogram::bounds(Cardinality::normal);
  MetricFamily durations =
      bounds.family("trainwatch_state_commit_seconds", "Time to make state and alerts durable.");
  durations.points.push_back(durations_.point({}, bounds));
  out.push_back(std::move(durations));
  const auto add = [&out](const char* name, const char* help, MetricType type, double value) {
    out.push_back({name, help, type, {}, {{{}, value, {}, 0}}});
  };
  add("trainwatch_state_commit_failures_total", "Failed commits; each is retried.",
      MetricType::counter, static_cast<double>(failures_));
  add("trainwatch_state_degraded", "1 while state and alerts cannot be stored.", MetricType::gauge,
      degraded() ? 1 : 0);
  add("trainwatch_outbox_depth", "Alerts stored for clients to resume from.", MetricType::gauge,
      static_cast<double>(store.last_seq() + 1 - store.first_seq()));
  add("trainwatch_state_subscribers_forgotten_total",
      "Names of subscribers that were forgotten because there were too many, the longest silent "
      "first.",
      MetricType::counter, static_cast<double>(store.subscribers_forgotten()));
}

std::optional<SelfCondition> missing_roots(const TailReport& tail) {
  if (tail.missing_roots.empty()) return std::nullopt;
  return SelfCondition{"missing",
                       "",
                       Severity::warning,
                       static_cast<double>(tail.missing_roots.size()),
                       "paths",
                       "nothing is read from " + tail.missing_roots.front() + ": it does not exist",
                       "Correct --watch, or wait: trainwatch looks for the path with every poll."};
}

std::vector<SelfCondition> self_checks(const DaemonState& state) {
  std::vector<SelfCondition> found;
  const auto add = [&found](std::string_view kind, Severity severity, double value,
                            std::string_view unit, std::string summary, std::string_view next) {
    found.push_back({kind, "", severity, value, unit, std::move(summary), next});
  };
  if (state.storing.degraded()) {
    add("state_degraded", Severity::critical, 1, "",
        "cannot store state and alerts: " + state.storing.failure(),
        "Free space on the disk of storage.path, or repair it; nothing is lost while trainwatch "
        "runs.");
  }
  if (!state.state_lost.empty()) {
    add("state_lost", Severity::warning, 1, "", "reading all files again: " + state.state_lost,
        "Clients get a reset or alerts they already have; check what happened to storage.path.");
  }
  if (!state.tail.watch_degraded.empty() && state.tail.watch_degraded != "network_fs") {
    add("watch_degraded", Severity::info, 1, "",
        "changes are found by polling only: " + state.tail.watch_degraded,
        "Raise fs.inotify.max_user_watches or max_user_instances; alerts come up to one poll "
        "late.");
  }
  if (auto missing = missing_roots(state.tail); missing && state.tail.missing_seconds >= kMissing) {
    found.push_back(std::move(*missing));
  }
  if (state.tail.files_dropped > 0) {
    const auto files = static_cast<double>(state.tail.files_dropped);
    add("files_limit", Severity::warning, files, "files",
        std::to_string(state.tail.files_dropped) + " files are not followed: the limit is reached",
        "Raise tail.max_files, or watch fewer directories.");
  }
  if (const auto deep = state.tail.skipped.count(SkipReason::too_deep); deep > 0) {
    add("depth_limit", Severity::info, static_cast<double>(deep), "directories",
        std::to_string(deep) + " directories are not searched: they lie too deep",
        "Raise tail.max_depth, or watch a directory further down.");
  }
  const std::chrono::duration<double> silent(state.tail.silent_seconds);
  const auto hangs = std::max<std::chrono::duration<double>>(state.reader_silence, silent);
  if (hangs > kReaderHangs) {
    add("stuck", Severity::critical, hangs.count(), "seconds", "a file system call does not return",
        "Look for a hung mount (NFS, FUSE) below the watched directories.");
  }
  return found;
}

void app_metrics(const ReloadState& reloads, const LogLosses& log, std::vector<MetricFamily>& out) {
  const auto gauge = [&](std::string name, std::string help, Labels labels, double value) {
    out.push_back({std::move(name),
                   std::move(help),
                   MetricType::gauge,
                   {},
                   {{std::move(labels), value, {}, 0}}});
  };
  gauge(
      "trainwatch_build_info", "Version of this trainwatch; always 1.",
      {{"version", version()}, {"revision", version_revision()}, {"compiler", version_compiler()}},
      1);
  gauge("trainwatch_config_last_reload_successful",
        "1 if the last reloads of the configuration and of the web configuration succeeded.", {},
        reloads.successful && reloads.web_successful ? 1 : 0);
  gauge("trainwatch_config_last_reload_success_timestamp_seconds",
        "Unix time of the last successful reload of the configuration.", {},
        std::chrono::duration<double>(reloads.last_success.time_since_epoch()).count());
  out.push_back({"trainwatch_log_lines_dropped_total",
                 "Lines of the log that were not written: nobody read those before, or the message "
                 "was repeated too often.",
                 MetricType::counter,
                 {},
                 {{{{"reason", "unread"}}, static_cast<double>(log.unread), {}, 0},
                  {{{"reason", "repeated"}}, static_cast<double>(log.repeated), {}, 0}}});
}

}  // namespace trainwatch
