// SPDX-License-Identifier: Apache-2.0
// The net thread's way to the alerts in the store, which the engine thread owns.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>

#include "daemon/net/engine_client.h"
#include "pipeline/state/state_store.h"

namespace trainwatch {

class EngineThread;

// What comes back is called on the net thread. Everything must outlive the client; without an
// engine nothing is acknowledged or kept. `acknowledged` is what was stored at the start; what
// receivers of notifications acknowledged is no business of subscribers.
AlertStoreClient store_client(boost::asio::io_context& net,
                              const std::unique_ptr<EngineThread>& engine,
                              Acknowledged acknowledged = {});

}  // namespace trainwatch
