// The results of analyses for one job, by name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/engine/analysis_host.h"
#include "pipeline/profile/profile_report.h"
#include "trainwatch/figures.h"
#include "trainwatch/result.h"

namespace trainwatch {

// The requested job, or the only one there is; "" if there is none.
Result<std::string> choose_job(const std::optional<std::string>& asked,
                               const std::vector<std::string>& seen);

// A group for each of `names`: analyses that run in `analyses`, results that are `known` already,
// or kPythonProfile, of the files below `paths`.
Figures job_results(const AnalysisHost& analyses, const std::vector<std::string>& names,
                    std::string_view job, const std::vector<std::string>& paths,
                    std::map<std::string, Figures> known = {});

}  // namespace trainwatch
