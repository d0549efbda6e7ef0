#include "commands/analyze.h"

#include <algorithm>
#include <ostream>

#include "commands/job_results.h"
#include "commands/offline_run.h"
#include "commands/trace_comparison.h"
#include "daemon/config/config_text.h"
#include "daemon/exit_code.h"
#include "pipeline/analysis/catalog.h"
#include "pipeline/analysis/hta/trace_diff.h"

namespace trainwatch {
namespace {

// Empty when all of `names` are known.
std::string unknown_name(const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const AnalysisSpec* spec : analysis_catalog()) known.push_back(spec->name);
  known.push_back(kTraceDiff);
  known.push_back(kPythonProfile);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string message = "unknown analysis '" + name + "'" + did_you_mean(name, known);
    message += "; there are:";
    for (const std::string_view one : known) message.append(" ").append(one);
    return message;
  }
  return {};
}

AnalysisList wanted(const std::vector<std::string>& names) {
  AnalysisList analyses;
  for (const AnalysisSpec* spec : analysis_catalog()) {
    if (std::find(names.begin(), names.end(), spec->name) != names.end()) analyses.push_back(spec);
  }
  return analyses;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TimeRange range_of(const AnalyzeOptions& options) {
  TimeRange range;
  if (options.from_us) range.from = Time{std::chrono::microseconds(*options.from_us)};
  if (options.to_us) range.to = Time{std::chrono::microseconds(*options.to_us)};
  return range;
}

}  // namespace

int analyze(const AnalyzeOptions& options, std::ostream& out, std::ostream& err) {
  if (const std::string unknown = unknown_name(options.what); !unknown.empty()) {
    err << unknown << '\n';
    return exit_code::usage;
  }
  const TimeRange range = range_of(options);
  if (range.to < range.from) {
    err << "--to-us is before --from-us\n";
    return exit_code::usage;
  }
  const bool compares = contains(options.what, kTraceDiff);
  if (compares && options.paths.size() != 2) {
    err << kTraceDiffUsage << '\n';
    return exit_code::usage;
  }
  const OfflineRun files(options, err);
  if (files.refused()) return *files.refused();
  Engine engine({}, wanted(options.what));
  engine.analyses().select(range, {options.steps, options.op});
  const bool reads = !engine.analyses().analyses().empty();
  if (reads) files.read_into(engine, [] {});
  const auto job = reads || !compares ? choose_job(options.job, engine.analyses().jobs())
                                      : Result<std::string>(std::string());
  if (!job.ok()) {
    err << job.error().message << '\n';
    return exit_code::usage;
  }
  std::map<std::string, Figures> known;
  if (compares) {
    auto compared = compare_traces(options, err);
    if (const int* const refused = std::get_if<int>(&compared)) return *refused;
    known.emplace(kTraceDiff, std::get<Figures>(std::move(compared)));
  }
  const Figures results =
      job_results(engine.analyses(), options.what, *job, options.paths, std::move(known));
  out << results.json() << '\n' << std::flush;
  if (out) return exit_code::done;
  err << "cannot write the result\n";
  return exit_code::failed;
}

}  // namespace trainwatch
