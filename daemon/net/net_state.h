// SPDX-License-Identifier: Apache-2.0
// State shared by the listener, its connections and its WebSocket sessions. Net thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>

#include "daemon/access/access.h"
#include "daemon/access/login.h"
#include "daemon/access/token_bucket.h"
#include "daemon/net/alert_hub.h"
#include "daemon/net/connection_table.h"
#include "daemon/net/engine_client.h"
#include "daemon/net/http_server.h"
#include "daemon/net/metrics_page.h"
#include "daemon/net/named_subscribers.h"
#include "daemon/net/net_metrics.h"
#include "daemon/net/origin_guard.h"
#include "daemon/net/session_list.h"

namespace trainwatch {

class HttpConnection;

struct NetState {
  NetState(NetOptions chosen, AlertHub& alerts, AlertStoreClient older, DataSources others,
           bool loopback, std::unique_ptr<PasswordHasher> hasher)
      : options(std::move(chosen)),
        access(options.access),
        login(std::move(hasher)),
        rate(access->rate),
        hub(alerts),
        alert_store(std::move(older)),
        sources(std::move(others)),
        names(alert_store.acknowledged, alert_store.acknowledge, options.limits.ws.names),
        guard(loopback, options.allowed_hosts),
        table(options.limits.http),
        pages(options.limits.http.metrics) {}

  NetOptions options;
  std::shared_ptr<const Access> access;  // never null; that of `options` is the first
  Login login;
  TokenBucket rate;
  AlertHub& hub;
  AlertStoreClient alert_store;
  DataSources sources;
  NamedSubscribers names;
  OriginGuard guard;
  NetCounters counters;
  std::shared_ptr<const Snapshot> snapshot;       // null before the first
  std::chrono::steady_clock::time_point shown{};  // when it came
  bool closing = false;
  ConnectionTable table;
  RenderedPages pages;
  // The live ones. They enter when they start and leave when they end.
  std::map<ConnectionTable::Id, std::shared_ptr<HttpConnection>> connections;
  SessionList sessions;
  std::deque<std::shared_ptr<HttpConnection>> pipelined;  // have sent more, and wait for their turn
  std::size_t unsent_bytes = 0;                           // of responses that connections hold

  // Whether the snapshot is new enough for whoever asks.
  bool is_fresh() const;
  // Closes a connection that had to leave the table.
  void drop(ConnectionTable::Id id);
};

}  // namespace trainwatch
