#include <algorithm>
#include <ostream>

#include "commands/commands.h"
#include "commands/offline_run.h"
#include "daemon/exit_code.h"
#include "pipeline/engine/alert_json.h"

namespace trainwatch {
namespace {

// Prints the engine's alerts and remembers the worst severity.
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

}  // namespace

int replay(const ReplayOptions& options, std::ostream& out, std::ostream& err) {
  const OfflineRun files(options, err);
  if (files.refused()) return *files.refused();
  Engine engine(files.config().enabled_rules());
  AlertPrinter printer(out);
  files.read_into(engine, [&] { printer.print(engine.take_emitted()); });
  out.flush();
  print_abstentions(engine.host(), err);
  if (!out) {
    err << "cannot write the alerts\n";
    return exit_code::failed;
  }
  return printer.reached(options.fail_on) ? exit_code::alerts : exit_code::done;
}

}  // namespace trainwatch
