// One WebSocket client of /api/v1/stream.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <vector>

#include "daemon/net/http_message.h"
#include "daemon/net/net_state.h"

namespace trainwatch {

class WsSession {
 public:
  virtual ~WsSession() = default;

  // The next four never end the session within the call.
  // The hub has new alerts.
  virtual void alerts_published() = 0;
  // These have no number and are nowhere to be had later.
  virtual void provisional_alerts(const std::vector<PublishedAlertPtr>& alerts) = 0;
  // NetState::snapshot is new and may be shown to clients that want it.
  virtual void status_changed() = 0;
  // `snapshot` has steps that no other one has.
  virtual void steps_closed(const std::shared_ptr<const Snapshot>& snapshot) = 0;
  // We are stopping: 1001.
  virtual void shut_down() = 0;
};

// Answers the upgrade `request`, whose query is valid, and serves the client until it is gone. The
// session keeps itself alive and is in NetState::sessions meanwhile.
void start_ws_session(std::shared_ptr<NetState> net, boost::asio::ip::tcp::socket socket,
                      const HttpRequest& request);

}  // namespace trainwatch
