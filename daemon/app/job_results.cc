#include "daemon/app/job_results.h"

#include <algorithm>

#include "pipeline/tail/posix_file_system.h"

namespace trainwatch {
namespace {

std::string python_profile(const std::vector<std::string>& paths) {
  PosixFileSystem files;
  return python_profile_json(files, find_profiles(files, paths), {});
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

std::string job_results(const AnalysisHost& analyses, const std::vector<std::string>& names,
                        std::string_view job, const std::vector<std::string>& paths,
                        const std::map<std::string, std::string>& said) {
  JsonWriter json;
  json.begin_object();
  for (const std::string& name : names) {
    if (const auto known = said.find(name); known != said.end()) {
      json.key(name).raw(known->second);
      continue;
    }
    const auto result = analyses.result(name, job);
    json.key(name).raw(result ? *result : python_profile(paths));
  }
  return json.end_object().take();
}

}  // namespace trainwatch
