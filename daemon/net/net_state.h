// What the listener, its connections and its WebSocket sessions share. Net thread only.
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
        archive(std::move(older)),
        analyses(std::move(results)),
        names(archive.acknowledged, archive.acknowledge),
        guard(loopback, options.allowed_hosts) {}

  NetOptions options;
  AlertHub& hub;
  AlertStoreClient archive;
  AnalysisSource analyses;  // may be empty: there are none
  NamedSubscribers names;
  OriginGuard guard;
  NetCounters counters;
  std::shared_ptr<const Snapshot> snapshot;  // null before the first
  bool closing = false;
  // Alive ones. They enter when they start and leave when they end.
  std::set<std::shared_ptr<HttpConnection>> connections;
  std::set<std::shared_ptr<WsSession>> sessions;

  std::size_t open() const { return connections.size() + sessions.size(); }
};

}  // namespace trainwatch
