// SPDX-License-Identifier: Apache-2.0
// Maps requests to responses. No sockets.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "daemon/net/http_message.h"
#include "daemon/net/net_state.h"

namespace trainwatch {

// Most responses are ready at once; some have to wait for the engine thread.
using Answer = std::variant<HttpResponse, std::shared_ptr<DeferredResponse>>;

// Status 101 means that the request may become a WebSocket session. `net` must outlive the
// response.
Answer answer(NetState& net, const HttpRequest& request);

// Metrics of this thread and the process, which the snapshot lacks.
std::vector<MetricFamily> own_families(const NetState& net);

// Whether the request is one by which trainwatch itself is watched, for which places are reserved.
bool is_vital(const HttpRequest& request);

}  // namespace trainwatch
