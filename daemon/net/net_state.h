// State shared by the listener, its connections and its WebSocket sessions. Net thread only.
#pragma once

#include <memory>
#include <set>

#include "daemon/net/alert_hub.h"
#include "daemon/net/engine_client.h"
#include "daemon/net/http_server.h"
#include "daemon/net/named_subscribers.h"
#include "daemon/net/net_metrics.h"
#include "daemon/net/origin_guard.h"

namespace trainwatch {

class HttpConnection;
class WsSession;

struct NetState {
  NetState(NetOptions chosen, AlertHub& alerts, AlertStoreClient older, AnalysisSource results,
           bool loopback)
      : options(std::move(chosen)),
        hub(alerts),
        alert_store(std::move(older)),
        analyses(std::move(results)),
        names(alert_store.acknowledged, alert_store.acknowledge),
        guard(loopback, options.allowed_hosts) {}

  NetOptions options;
  AlertHub& hub;
  AlertStoreClient alert_store;
  AnalysisSource analyses;  // may be empty: there are none
  NamedSubscribers names;
  OriginGuard guard;
  NetCounters counters;
  std::shared_ptr<const Snapshot> snapshot;  // null before the first
  bool closing = false;
  // The live ones. They enter when they start and leave when they end.
  std::set<std::shared_ptr<HttpConnection>> connections;
  std::set<std::shared_ptr<WsSession>> sessions;

  std::size_t open() const { return connections.size() + sessions.size(); }
};

}  // namespace trainwatch
