#include "daemon/app/replay.h"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "daemon/app/watch_roots.h"
#include "daemon/cli/exit_code.h"
#include "daemon/cli/progress_bar.h"
#include "daemon/config/config.h"
#include "pipeline/engine/ingest.h"
#include "pipeline/tail/posix_file_system.h"
#include "rules/catalog.h"

namespace trainwatch {
namespace {

// Writes what the engine has told and remembers the worst severity.
class AlertPrinter {
 public:
  explicit AlertPrinter(std::ostream& out) : out_(out) {}

  void print(const std::vector<Alert>& alerts) {
    for (const Alert& alert : alerts) {
      out_ << to_json(alert, {}) << '\n';
      seen_ = true;
      worst_ = std::max(worst_, alert.severity);
    }
  }
  bool reached(const std::optional<Severity>& limit) const {
    return limit && seen_ && worst_ >= *limit;
  }

 private:
  std::ostream& out_;
  bool seen_ = false;
  Severity worst_ = Severity::info;
};

// What was thrown away must be seen, also in a batch run.
void report_rejects(const Ingest& ingest, std::ostream& err) {
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

int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err) {
  const auto config = load_config(options.config_file, options.flags, rule_catalog());
  if (!config.ok()) {
    err << config.error().message << '\n';
    return exit_code::bad_config;
  }
  for (const std::string& path : options.paths) {
    if (std::error_code failure; std::filesystem::exists(path, failure)) continue;
    err << path << ": no such file or directory\n";
    return exit_code::failed;
  }

  WatchRoots watched = replay_roots(options.paths, *config);
  Engine engine(config->enabled_rules());
  Ingest ingest(engine, std::move(watched.ingest));
  PosixFileSystem files;
  Tailer tailer(files, std::move(watched.roots), tail_limits(config->tail));
  AlertPrinter printer(out);
  ProgressBar progress(err, options.progress);

  // More files than the tailer follows at a time come in with the next scan.
  for (bool more = true; more;) {
    more = false;
    tailer.scan(ingest);
    progress.set_total(tailer.unread_bytes());
    while (tailer.read(ingest)) {
      printer.print(engine.take_told());
      progress.show_left(tailer);
      more = tailer.files_dropped() > 0;
    }
  }
  ingest.end_of_input();
  printer.print(engine.take_told());
  out.flush();
  progress.finish();
  report_rejects(ingest, err);
  if (!out) {
    err << "cannot write the alerts\n";
    return exit_code::failed;
  }
  return printer.reached(options.fail_on) ? exit_code::alerts : exit_code::done;
}

}  // namespace trainwatch
