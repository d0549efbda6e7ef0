#include "daemon/app/old_files.h"

#include <filesystem>
#include <ostream>
#include <utility>

#include "daemon/app/watch_roots.h"
#include "daemon/cli/exit_code.h"
#include "daemon/cli/progress_bar.h"
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

OldFiles::OldFiles(const OldFilesOptions& options, std::ostream& err)
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

std::unique_ptr<Ingest> OldFiles::read_into(Engine& engine,
                                            const std::function<void()>& read) const {
  WatchRoots watched = replay_roots(options_.paths, *config_);
  auto ingest = std::make_unique<Ingest>(engine, std::move(watched.ingest));
  read_all(*ingest, std::move(watched.roots), read);
  tell_rejects(*ingest, err_);
  return ingest;
}

void OldFiles::read_all(Ingest& ingest, std::vector<WatchRoot> roots,
                        const std::function<void()>& read) const {
  PosixFileSystem files;
  Tailer tailer(files, std::move(roots), tail_limits(config_->tail));
  ProgressBar progress(err_, options_.progress);
  // More files than the tailer follows at a time come in with the next scan.
  for (bool more = true; more;) {
    more = false;
    tailer.scan(ingest);
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
