// SPDX-License-Identifier: Apache-2.0
// One WebSocket client of /api/v1/stream.
#pragma once

#include <memory>
#include <vector>

#include "daemon/net/client_stream.h"
#include "daemon/net/http_message.h"
#include "daemon/net/net_state.h"
#include "daemon/net/stream_protocol.h"

namespace trainwatch {

class WsSession {
 public:
  virtual ~WsSession() = default;

  // None of the next five ends the session within the call.
  // The hub has new alerts.
  virtual void alerts_published() = 0;
  // Provisional alerts, which cannot be fetched later.
  virtual void provisional_alerts(const std::vector<PublishedAlertPtr>& alerts) = 0;
  // NetState::snapshot is new; its status goes to clients that want it.
  virtual void status_changed() = 0;
  // `snapshot` has steps, which are in no other snapshot.
  virtual void steps_closed(const std::shared_ptr<const Snapshot>& snapshot) = 0;
  // Steps of trials have become complete.
  virtual void tensors_saved(const std::shared_ptr<const TensorNews>& news) = 0;
  virtual bool wants_tensors() const = 0;
  // Whether alerts that it is being sent come from the store, and it takes them.
  virtual bool needs_store() const = 0;
  // Closes with 1001, as trainwatch is stopping.
  virtual void shut_down() = 0;
};

// Accepts the upgrade `request`, whose query is valid, and serves the client, which counts for its
// address `from`, until it disconnects.
// The session keeps itself alive and is in NetState::sessions during that time.
void start_ws_session(std::shared_ptr<NetState> net, ClientStream stream, ClientAddress from,
                      const HttpRequest& request);

}  // namespace trainwatch
