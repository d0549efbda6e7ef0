// SPDX-License-Identifier: Apache-2.0
#include "commands/offline_run.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <utility>

#include "commands/progress.h"
#include "daemon/app/watch_roots.h"
#include "daemon/exit_code.h"
#include "pipeline/engine/log_probe.h"
#include "pipeline/tail/posix_file_system.h"
#include "pipeline/tail/tailer.h"
#include "rules/catalog.h"

namespace trainwatch {
namespace {

using SteadyClock = Progress::Clock;

// One thread reads, decodes and judges, so a chunk stays in the processor's cache: 4 to 5 % less
// CPU time than with the 256 KiB of `run`, which hands each chunk to another thread.
constexpr std::size_t kMostAtOnce = std::size_t{128} << 10U;

void print_rejects(const Ingest& ingest, std::ostream& err) {
  for (const auto& [source, counts] : ingest.sources()) {
    for (std::size_t i = 0; i < counts.rejects.size(); ++i) {
      if (counts.rejects[i] == 0) continue;
      err << source << ": " << counts.rejects[i] << " records rejected ("
          << to_string(static_cast<RejectReason>(i)) << ")\n";
    }
    if (counts.read_errors > 0) err << source << ": " << counts.read_errors << " read errors\n";
  }
}

Figures profile_of(const std::vector<std::string>& paths) {
  std::vector<WatchRoot> roots;
  std::vector<std::string> resolved;
  for (const std::string& path : paths) {
    resolved.push_back(resolved_path(path));
    roots.push_back({resolved.back(), path});
  }
  PosixFileSystem files(std::move(roots));
  return python_profile(files, find_profiles(files, resolved), {});
}

}  // namespace

int refuse(const Error& error, int code, std::ostream& err) {
  err << error.message << '\n';
  return code;
}

OfflineRun::OfflineRun(const OfflineOptions& options, std::ostream& err)
    : options_(options), err_(err), status_(err, options.err_style) {
  auto config = load_config(options.config_file, options.flags, rule_catalog());
  if (!config.ok()) {
    err << config.error().message << '\n';
    refused_ = exit_code::bad_config;
    return;
  }
  config_ = std::move(*config);
  for (const std::string& path : options.paths) {
    if (std::error_code failure; std::filesystem::exists(path, failure)) continue;
    err << path << ": no such file or directory\n";
    refused_ = exit_code::failed;
    return;
  }
}

std::unique_ptr<Ingest> OfflineRun::read_into(Engine& engine,
                                              const std::function<void()>& read) const {
  IngestOptions input = replay_input(options_.paths, *config_);
  constexpr std::size_t kWithHostEvents = 4;  // of which there may be as many rows as of all else
  if (engine.analyses().wants_host_events()) input.decode_bytes *= kWithHostEvents;
  std::vector<WatchRoot> roots = input.roots;
  ContentProbe probe = log_probe(input);
  auto ingest = std::make_unique<Ingest>(engine, std::move(input));
  read_all(*ingest, std::move(roots), std::move(probe), read);
  print_rejects(*ingest, err_);
  return ingest;
}

void OfflineRun::read_all(Ingest& ingest, std::vector<WatchRoot> roots, ContentProbe probe,
                          const std::function<void()>& read) const {
  PosixFileSystem files(roots);
  TailLimits limits = tail_limits(config_->tail);
  limits.chunk_bytes = std::min(limits.chunk_bytes, kMostAtOnce);
  limits.copy_patience = Nanos{0};  // nothing more will show whether a file is a copy
  Tailer tailer(files, std::move(roots), limits, {}, std::move(probe));
  Progress progress(status_, options_.progress);
  // Files beyond the tailer's limit come in with the next scan. For the tailer a second has passed
  // by then, so that the output does not depend on how fast this machine reads.
  ScanTime now{};
  for (bool more = true; more;) {
    more = false;
    do {  // which files are logs is known before any is read
      tailer.scan(ingest, now);
      now += std::chrono::seconds(1);
    } while (tailer.has_unlooked());
    progress.found(tailer.unread_bytes(), SteadyClock::now());
    while (tailer.read(ingest)) {
      read();
      if (const auto at = SteadyClock::now(); progress.is_due(at))
        progress.show_left(tailer.unread_bytes(), at);
      more = tailer.files_dropped() > 0;
    }
  }
  skipped_ = tailer.skipped();
  ingest.end_of_input();
  read();
  progress.finish(SteadyClock::now());
}

Result<std::string> choose_job(const std::optional<std::string>& asked,
                               const std::vector<std::string>& seen) {
  if (asked && std::find(seen.begin(), seen.end(), *asked) != seen.end()) return *asked;
  if (!asked && seen.size() <= 1) return seen.empty() ? std::string() : seen.front();
  std::string message = asked ? "no job '" + *asked + "' in these files" : "several jobs";
  message += "; choose one with --job:";
  for (const std::string& job : seen) message.append(" '").append(job).append("'");
  return Error{message};
}

Figures job_result(const AnalysisHost& analyses, const std::string& name, std::string_view job,
                   const std::vector<std::string>& paths) {
  auto result = analyses.result(name, job);
  return result ? std::move(*result) : profile_of(paths);
}

Figures job_results(const AnalysisHost& analyses, const std::vector<std::string>& names,
                    std::string_view job, const std::vector<std::string>& paths) {
  Figures results;
  for (const std::string& name : names) results.add(name, job_result(analyses, name, job, paths));
  return results;
}

}  // namespace trainwatch
