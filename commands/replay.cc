// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "commands/commands.h"
#include "commands/offline_run.h"
#include "commands/replayed_alerts.h"
#include "daemon/exit_code.h"
#include "daemon/terminal/columns.h"
#include "daemon/terminal/local_zone.h"
#include "pipeline/engine/alert_json.h"
#include "pipeline/engine/headline_text.h"
#include "pipeline/engine/ingest.h"
#include "pipeline/engine/run_headlines.h"

namespace trainwatch {
namespace {

// Prints the engine's alerts, as sentences at the end or as JSON at once, and remembers the worst
// severity.
class AlertPrinter {
 public:
  AlertPrinter(const ReplayOptions& options, std::ostream& out, const OfflineRun& files)
      : options_(options),
        out_(out),
        files_(files),
        texts_(options.out_style, options.parts,
               [this](std::string_view lines) { files_.print(out_, lines); }) {}

  void print(const std::vector<Alert>& alerts) {
    std::string lines;
    for (const Alert& alert : alerts) {
      if (alert.is_part() && !options_.parts) continue;
      seen_ = true;
      worst_ = std::max(worst_, alert.severity);
      if (options_.text) {
        texts_.add(alert);
      } else {
        lines += to_json(alert) + '\n';
      }
    }
    if (!lines.empty()) files_.print(out_, lines);
  }
  // What is left to say once all has been read.
  void finish(const Engine& engine) {
    if (!options_.text) return;
    texts_.finish(engine.latest());
    std::string lines;
    for (const auto& [job, shown] : shown_runs(engine)) {
      const Headline& headline = shown.headline;
      const std::string& name = engine.interner().subjects[job].job;
      append_wrapped(lines,
                     (name.empty() ? name : name + ": ") +
                         fill_headline(headline.text, headline.since, engine.latest(job),
                                       local_zone(headline.since)),
                     0, options_.out_style.width);
    }
    files_.print(out_, lines + texts_.counts() + '\n');
  }
  bool reached(const std::optional<Severity>& limit) const {
    return limit && seen_ && worst_ >= *limit;
  }

 private:
  const ReplayOptions& options_;
  std::ostream& out_;
  const OfflineRun& files_;
  ReplayedAlerts texts_;
  bool seen_ = false;
  Severity worst_ = Severity::info;
};

// The silence of a rule that could not decide must not look like good news.
void print_abstentions(const RuleHost& host, std::ostream& err) {
  for (std::uint32_t rule = 0; rule < host.rules().size(); ++rule) {
    const auto& missing = host.missing(rule);
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

// What was looked at and left, in one line; empty: nothing was.
std::string left_out(const SkippedPaths& skipped) {
  const auto others = skipped.count(SkipReason::no_known_format);
  if (others == 0) return {};
  const auto& all = skipped.first();
  const auto first =
      std::ranges::find(all, SkipReason::no_known_format, &SkippedPaths::Skipped::reason);
  std::string text = "nothing of a known format in the first bytes of " + std::to_string(others);
  text += others == 1 ? " other file" : " other files";
  if (first != all.end()) text += ": " + first->path + (others > 1 ? ", ..." : "");
  return text + '\n';
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
  AlertPrinter printer(options, out, files);
  const auto ingest = files.read_into(engine, [&] { printer.print(engine.take_settled()); });
  if (!read_anything(*ingest)) {
    err << "nothing could be read: " << ingest->files().size() << " files, no records\n"
        << left_out(files.skipped());
    return exit_code::failed;
  }
  printer.finish(engine);
  out.flush();
  print_abstentions(engine.host(), err);
  if (!out) {
    err << "cannot write the alerts\n";
    return exit_code::failed;
  }
  return printer.reached(options.fail_on) ? exit_code::alerts : exit_code::done;
}

}  // namespace trainwatch
