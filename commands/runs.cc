// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <ostream>
#include <string>

#include "commands/commands.h"
#include "commands/offline_run.h"
#include "daemon/exit_code.h"
#include "daemon/terminal/columns.h"
#include "daemon/terminal/local_zone.h"
#include "pipeline/engine/headline_text.h"
#include "pipeline/engine/life_json.h"
#include "pipeline/engine/pipeline_report.h"
#include "pipeline/engine/run_headlines.h"

namespace trainwatch {
namespace {

std::string sentences(const Engine& engine, std::size_t width) {
  const auto today = std::chrono::time_point_cast<Nanos>(std::chrono::system_clock::now());
  std::string lines;
  for (const auto& [job, shown] : shown_runs(engine)) {
    const Headline& headline = shown.headline;
    const std::string& name = engine.interner().subjects[job].job;
    const Life& life = shown.view.life;
    const Time now = goes_on(life.state) ? life.until : std::max(life.until, today);
    append_wrapped(
        lines,
        (name.empty() ? name : name + ": ") +
            fill_headline(headline.text, headline.since, now, local_zone(headline.since), today),
        0, width);
    append_wrapped(lines, life_words(life), 2, width);
  }
  return lines;
}

}  // namespace

int runs(const RunsOptions& options, std::ostream& out, std::ostream& err) {
  const OfflineRun files(options, err);
  if (files.refused()) return *files.refused();
  Engine engine(files.config().enabled_rules());
  const auto ingest = files.read_into(engine, [&engine] { engine.take_emitted(); });
  if (engine.ledger().runs().empty()) {
    err << "no run could be read: " << ingest->files().size() << " files\n";
    return exit_code::failed;
  }
  files.print(out, options.text ? sentences(engine, options.out_style.width) : runs_lines(engine));
  out.flush();
  if (out) return exit_code::done;
  err << "cannot write the runs\n";
  return exit_code::failed;
}

}  // namespace trainwatch
