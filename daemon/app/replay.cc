#include "daemon/app/replay.h"

#include <algorithm>
#include <ostream>

#include "daemon/app/read_all.h"
#include "daemon/cli/exit_code.h"
#include "daemon/config/config.h"
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

}  // namespace

int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err) {
  const auto config = load_config(options.config_file, options.flags, rule_catalog());
  if (!config.ok()) {
    err << config.error().message << '\n';
    return exit_code::bad_config;
  }
  if (const auto missing = missing_path(options.paths)) {
    err << *missing << ": no such file or directory\n";
    return exit_code::failed;
  }

  WatchRoots watched = replay_roots(options.paths, *config);
  Engine engine(config->enabled_rules());
  Ingest ingest(engine, std::move(watched.ingest));
  AlertPrinter printer(out);
  ProgressBar progress(err, options.progress);
  read_all(std::move(watched.roots), tail_limits(config->tail), ingest, progress,
           [&] { printer.print(engine.take_told()); });
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
