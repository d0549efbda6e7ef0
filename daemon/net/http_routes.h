// Which request gets which answer. No sockets.
#pragma once

#include <memory>
#include <variant>

#include "daemon/net/alerts_reply.h"
#include "daemon/net/http_message.h"
#include "daemon/net/net_state.h"

namespace trainwatch {

// Most replies are there at once; one has to wait for the archive: see AlertsReply::later().
using Answer = std::variant<HttpReply, std::shared_ptr<AlertsReply>>;

// Status 101 means: the request may become a WebSocket session. `net` must outlive the answer.
Answer answer(const NetState& net, const HttpRequest& request);

}  // namespace trainwatch
