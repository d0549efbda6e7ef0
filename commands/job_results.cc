#include "commands/job_results.h"

#include <algorithm>
#include <utility>

#include "pipeline/tail/posix_file_system.h"

namespace trainwatch {
namespace {

Figures profile_of(const std::vector<std::string>& paths) {
  PosixFileSystem files;
  return python_profile(files, find_profiles(files, paths), {});
}

}  // namespace

Result<std::string> choose_job(const std::optional<std::string>& asked,
                               const std::vector<std::string>& seen) {
  if (asked && std::find(seen.begin(), seen.end(), *asked) != seen.end()) return *asked;
  if (!asked && seen.size() <= 1) return seen.empty() ? std::string() : seen.front();
  std::string message = asked ? "no job '" + *asked + "' in these files" : "several jobs";
  message += "; choose one with --job:";
  for (const std::string& job : seen) message.append(" '").append(job).append("'");
  return Error{message};
}

Figures job_results(const AnalysisHost& analyses, const std::vector<std::string>& names,
                    std::string_view job, const std::vector<std::string>& paths,
                    std::map<std::string, Figures> known) {
  Figures results;
  for (const std::string& name : names) {
    if (const auto given = known.find(name); given != known.end()) {
      results.add(name, std::move(given->second));
    } else if (auto result = analyses.result(name, job)) {
      results.add(name, std::move(*result));
    } else {
      results.add(name, profile_of(paths));
    }
  }
  return results;
}

}  // namespace trainwatch
