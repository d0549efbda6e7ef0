// Answers GET /api/v1/analyses/NAME: on the engine thread, and Python profiles on a thread that
// reads them for the request.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "daemon/app/profile_reader.h"
#include "daemon/net/engine_client.h"
#include "pipeline/engine/analysis_host.h"

namespace trainwatch {

class EngineThread;

// On the engine thread.
HttpResponse answer_analysis(const AnalysisHost& host, const AnalysisQuery& query);

// Where the net thread gets analyses from. To be called on the thread of `net`. All must outlive
// the source but the engine: without one there is no answer.
AnalysisSource analysis_source(boost::asio::io_context& net,
                               const std::unique_ptr<EngineThread>& engine, ProfileReader& profiles,
                               const std::vector<std::string>& watched);

}  // namespace trainwatch
