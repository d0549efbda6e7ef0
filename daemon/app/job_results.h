// What the analyses say of one job, as one JSON object {NAME: result}.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/engine/analysis_host.h"
#include "pipeline/profile/profile_report.h"
#include "trainwatch/result.h"

namespace trainwatch {

// The job to tell of: the one asked for, or the only one there is; "" where there is none.
Result<std::string> choose_job(const std::optional<std::string>& asked,
                               const std::vector<std::string>& seen);

// `names` are analyses that run in `analyses`, or in `said` with their results, or kPythonProfile,
// of the files below `paths`.
std::string job_results(const AnalysisHost& analyses, const std::vector<std::string>& names,
                        std::string_view job, const std::vector<std::string>& paths,
                        const std::map<std::string, std::string>& said = {});

}  // namespace trainwatch
