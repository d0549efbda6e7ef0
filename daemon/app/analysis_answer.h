// What GET /api/v1/analyses/NAME is answered with.
#pragma once

#include "daemon/net/analysis_reply.h"
#include "pipeline/engine/analysis_host.h"

namespace trainwatch {

HttpReply answer_analysis(const AnalysisHost& host, const AnalysisQuery& query);

}  // namespace trainwatch
