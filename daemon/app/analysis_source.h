// SPDX-License-Identifier: Apache-2.0
// Responds to GET /api/v1/analyses/NAME: from the engine thread or, for Python profiles, from a
// thread that reads them for the request.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "daemon/app/file_worker.h"
#include "daemon/net/engine_client.h"
#include "pipeline/engine/analysis_host.h"

namespace trainwatch {

class EngineThread;

// Call on the engine thread. `charted`: jobs that are known, though perhaps by their logs only, of
// which no analysis has anything.
HttpResponse answer_analysis(const AnalysisHost& host, const AnalysisQuery& query,
                             const std::vector<std::string>& charted = {});

// How a worker answers requests for Python profiles, which are read from their own files.
FileWorker::Options profile_worker_options();

// The net thread's source of analyses. Call on the thread of `net`. Everything but the engine must
// outlive the source; without an engine there is no response.
AnalysisSource analysis_source(boost::asio::io_context& net,
                               const std::unique_ptr<EngineThread>& engine, FileWorker& profiles,
                               const std::vector<std::string>& watched);

}  // namespace trainwatch
