// Where the net thread gets analyses from: the engine thread, and Python profiles from a thread
// that reads them for the request.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "daemon/app/engine_thread.h"
#include "daemon/app/profile_reader.h"
#include "daemon/net/analysis_response.h"

namespace trainwatch {

// To be called on the thread of `net`. All must outlive the source but the engine: without one
// there is no answer.
AnalysisSource analysis_source(boost::asio::io_context& net,
                               const std::unique_ptr<EngineThread>& engine, ProfileReader& profiles,
                               const std::vector<std::string>& watched);

}  // namespace trainwatch
