// The response to GET /api/v1/analyses/NAME.
#pragma once

#include "daemon/net/analysis_response.h"
#include "pipeline/engine/analysis_host.h"

namespace trainwatch {

HttpResponse answer_analysis(const AnalysisHost& host, const AnalysisQuery& query);

}  // namespace trainwatch
