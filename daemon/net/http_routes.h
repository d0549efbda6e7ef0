// Which request gets which answer. No sockets.
#pragma once

#include "daemon/net/http_message.h"
#include "daemon/net/net_state.h"

namespace trainwatch {

// Status 101 means: the request may become a WebSocket session.
HttpReply answer(const NetState& net, const HttpRequest& request);

}  // namespace trainwatch
