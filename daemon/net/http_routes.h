// Which request gets which answer. No sockets.
#pragma once

#include <memory>
#include <variant>

#include "daemon/net/http_message.h"
#include "daemon/net/net_state.h"

namespace trainwatch {

// Most replies are there at once; some have to wait for the engine thread.
using Answer = std::variant<HttpResponse, std::shared_ptr<DeferredResponse>>;

// Status 101 means: the request may become a WebSocket session. `net` must outlive the answer.
Answer answer(const NetState& net, const HttpRequest& request);

}  // namespace trainwatch
