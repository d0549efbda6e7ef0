// SPDX-License-Identifier: Apache-2.0
// Responds to the questions of charts, from the engine thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <vector>

#include "daemon/net/engine_client.h"
#include "pipeline/analysis/history/history.h"
#include "pipeline/ledger/ledger.h"
#include "trainwatch/interner.h"

namespace trainwatch {

class EngineThread;

// `more`: what is not in the history yet. Call on the engine thread.
HttpResponse answer_chart(const History& history, const std::vector<Step>& more,
                          const ChartQuery& query);
// Those about the account of a run.
HttpResponse answer_chart(const Ledger& ledger, const Interner& interner, const ChartQuery& query);

// The net thread's source of charts. Everything must outlive it; without an engine there is no
// response.
ChartSource chart_source(boost::asio::io_context& net, const std::unique_ptr<EngineThread>& engine);

}  // namespace trainwatch
