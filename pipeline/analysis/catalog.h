// SPDX-License-Identifier: Apache-2.0
// The list of all analyses of events. As the list of rules, it is deliberate.
#pragma once

#include <string_view>
#include <vector>

#include "trainwatch/analysis.h"

namespace trainwatch {

const std::vector<const AnalysisSpec*>& analysis_catalog();

// Null when there is none of this name.
const AnalysisSpec* find_analysis(std::string_view name);

}  // namespace trainwatch
