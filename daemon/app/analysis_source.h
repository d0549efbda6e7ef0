// Where the net thread gets analyses from: the engine thread, and Python profiles, which are files
// of their own, from the reader thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "daemon/app/engine_thread.h"
#include "daemon/app/reader.h"
#include "daemon/net/analysis_reply.h"

namespace trainwatch {

// To be called on the thread of `net`. All must outlive the source but what the pointers point to:
// without a thread to ask there is no answer.
AnalysisSource analysis_source(boost::asio::io_context& net,
                               const std::unique_ptr<EngineThread>& engine,
                               const std::unique_ptr<Reader>& reader,
                               const std::vector<std::string>& watched);

}  // namespace trainwatch
