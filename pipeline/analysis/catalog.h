// All analyses of events, in the order in which they are listed.
#pragma once

#include "trainwatch/analysis.h"

namespace trainwatch {

AnalysisCatalog analysis_catalog();

// Null when there is none of this name.
const AnalysisSpec* find_analysis(std::string_view name);

}  // namespace trainwatch
