#include "daemon/app/analyze.h"

#include <algorithm>
#include <ostream>

#include "daemon/app/read_all.h"
#include "daemon/cli/exit_code.h"
#include "daemon/config/config.h"
#include "daemon/config/config_text.h"
#include "pipeline/analysis/catalog.h"
#include "pipeline/profile/profile_report.h"
#include "pipeline/tail/posix_file_system.h"
#include "rules/catalog.h"

namespace trainwatch {
namespace {

// Empty when all of `names` are known.
std::string unknown_name(const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const AnalysisSpec* spec : analysis_catalog()) known.push_back(spec->name);
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

// The job to tell of: the one asked for, or the only one there is.
Result<std::string> choose_job(const std::optional<std::string>& asked,
                               const std::vector<std::string>& seen) {
  if (asked && std::find(seen.begin(), seen.end(), *asked) != seen.end()) return *asked;
  if (!asked && seen.size() <= 1) return seen.empty() ? std::string() : seen.front();
  std::string message = asked ? "no job '" + *asked + "' in these files" : "several jobs";
  message += "; choose one with --job:";
  for (const std::string& job : seen) message.append(" '").append(job).append("'");
  return Error{message};
}

std::string python_profile(const std::vector<std::string>& paths) {
  PosixFileSystem files;
  return python_profile_json(files, find_profiles(files, paths), {});
}

}  // namespace

int analyze(const AnalyzeOptions& options, std::ostream& out, std::ostream& err) {
  if (const std::string unknown = unknown_name(options.what); !unknown.empty()) {
    err << unknown << '\n';
    return exit_code::usage;
  }
  const auto config = load_config(options.config_file, {}, rule_catalog());
  if (!config.ok()) {
    err << config.error().message << '\n';
    return exit_code::bad_config;
  }
  if (const auto missing = missing_path(options.paths)) {
    err << *missing << ": no such file or directory\n";
    return exit_code::failed;
  }

  WatchRoots watched = replay_roots(options.paths, *config);
  Engine engine({}, wanted(options.what));
  Ingest ingest(engine, std::move(watched.ingest));
  if (!engine.analyses().analyses().empty()) {
    ProgressBar progress(err, options.progress);
    read_all(std::move(watched.roots), tail_limits(config->tail), ingest, progress, [] {});
    ingest.end_of_input();
    progress.finish();
    report_rejects(ingest, err);
  }
  const auto job = choose_job(options.job, engine.analyses().jobs());
  if (!job.ok()) {
    err << job.error().message << '\n';
    return exit_code::usage;
  }
  JsonWriter json;
  json.begin_object();
  for (const std::string& name : options.what) {
    const auto result = engine.analyses().result(name, *job);
    json.key(name).raw(result ? *result : python_profile(options.paths));
  }
  out << json.end_object().text() << '\n' << std::flush;
  if (out) return exit_code::done;
  err << "cannot write the result\n";
  return exit_code::failed;
}

}  // namespace trainwatch
