#include <algorithm>
#include <ostream>

#include "commands/commands.h"
#include "commands/offline_run.h"
#include "daemon/exit_code.h"
#include "pipeline/engine/alert_json.h"
#include "pipeline/engine/ingest.h"

namespace trainwatch {
namespace {

// Prints the engine's alerts and remembers the worst severity.
class AlertPrinter {
 public:
  AlertPrinter(std::ostream& out, bool parts) : out_(out), parts_(parts) {}

  void print(const std::vector<Alert>& alerts) {
    for (const Alert& alert : alerts) {
      if (alert.is_part() && !parts_) continue;
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
  bool parts_;  // those for which another alert speaks, too
  bool seen_ = false;
  Severity worst_ = Severity::info;
};

// The silence of a rule that could not decide must not look like good news.
void print_abstentions(const RuleHost& host, std::ostream& err) {
  for (std::uint32_t rule = 0; rule < host.rules().size(); ++rule) {
    const auto missing = host.missing(rule);
    if (missing.empty()) continue;
    err << host.rules()[rule].spec->id << ": INCOMPLETE_DATA for " << host.abstaining(rule)
        << " of " << host.instances(rule) << ", without";
    const char* separator = " ";
    for (const std::string_view input : missing) {
      err << separator << input;
      separator = ", ";
    }
    err << '\n';
  }
}

// Silence about files that could not be read would look like good news.
bool read_anything(const Ingest& ingest) {
  return std::ranges::any_of(ingest.sources(),
                             [](const auto& source) { return source.second.records > 0; });
}

}  // namespace

int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err) {
  const OfflineRun files(options, err);
  if (files.refused()) return *files.refused();
  Engine engine(files.config().enabled_rules());
  AlertPrinter printer(out, options.parts);
  const auto ingest = files.read_into(engine, [&] { printer.print(engine.take_emitted()); });
  out.flush();
  if (!read_anything(*ingest)) {
    err << "nothing could be read: " << ingest->files().size() << " files, no records\n";
    return exit_code::failed;
  }
  print_abstentions(engine.host(), err);
  if (!out) {
    err << "cannot write the alerts\n";
    return exit_code::failed;
  }
  return printer.reached(options.fail_on) ? exit_code::alerts : exit_code::done;
}

}  // namespace trainwatch
