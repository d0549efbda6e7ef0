#include "commands/offline_run.h"

#include <filesystem>
#include <ostream>
#include <utility>

#include "commands/cli/progress_bar.h"
#include "daemon/app/watch_roots.h"
#include "daemon/exit_code.h"
#include "pipeline/tail/posix_file_system.h"
#include "rules/catalog.h"

namespace trainwatch {
namespace {

void tell_rejects(const Ingest& ingest, std::ostream& err) {
  for (const auto& [source, counts] : ingest.sources()) {
    for (std::size_t i = 0; i < counts.rejects.size(); ++i) {
      if (counts.rejects[i] == 0) continue;
      err << source << ": " << counts.rejects[i] << " records rejected ("
          << to_string(static_cast<RejectReason>(i)) << ")\n";
    }
    if (counts.read_errors > 0) err << source << ": " << counts.read_errors << " read errors\n";
  }
}

}  // namespace

int refuse(const Error& error, int code, std::ostream& err) {
  err << error.message << '\n';
  return code;
}

OfflineRun::OfflineRun(const OfflineOptions& options, std::ostream& err)
    : options_(options), err_(err) {
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
  std::vector<WatchRoot> roots = input.roots;
  auto ingest = std::make_unique<Ingest>(engine, std::move(input));
  read_all(*ingest, std::move(roots), read);
  tell_rejects(*ingest, err_);
  return ingest;
}

void OfflineRun::read_all(Ingest& ingest, std::vector<WatchRoot> roots,
                          const std::function<void()>& read) const {
  PosixFileSystem files;
  Tailer tailer(files, std::move(roots), tail_limits(config_->tail));
  ProgressBar progress(err_, options_.progress);
  // More files than the tailer follows at a time come in with the next scan. To the tailer a second
  // has passed by then, so that what is printed does not depend on how fast this machine reads.
  ScanTime now{};
  for (bool more = true; more;) {
    more = false;
    tailer.scan(ingest, now);
    now += std::chrono::seconds(1);
    progress.set_total(tailer.unread_bytes());
    while (tailer.read(ingest)) {
      read();
      progress.show_left(tailer);
      more = tailer.files_dropped() > 0;
    }
  }
  ingest.end_of_input();
  read();
  progress.finish();
}

}  // namespace trainwatch
