// SPDX-License-Identifier: Apache-2.0
// The response to GET /api/v1/alerts: the log, from the window and, for older alerts, from the
// store; or, with state=firing, what fires now, one row per alert, from the store. No sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "daemon/net/engine_client.h"
#include "daemon/net/http_message.h"
#include "trainwatch/result.h"

namespace trainwatch {

struct AlertQuery {
  std::uint64_t after = 0;
  std::size_t limit = 1000;  // never more
  AlertFilter filter{};
};

// Fails, with the name of the parameter, if one is unknown or its value is not allowed.
Result<AlertQuery> parse_alert_query(std::string_view query);

class AlertsResponse final : public DeferredResponse,
                             public std::enable_shared_from_this<AlertsResponse> {
 public:
  // `hub` and `store` must outlive it.
  AlertsResponse(const AlertHub& hub, const AlertStoreClient& store, AlertQuery query)
      : hub_(hub), store_(store), query_(std::move(query)) {}

  // The response, if it does not need the store.
  std::optional<HttpResponse> now();
  // Requests alerts from the store, once, after now() returned nothing. `done` is called once,
  // later: with 503 if the store fails.
  void later(Done done) override;

 private:
  bool full() const;
  void take(const PublishedAlertPtr& alert);
  bool asks_for_now() const { return query_.filter.state == Alert::State::firing; }
  void ask();
  void answered(AlertStoreClient::Page page);
  HttpResponse response() const;
  std::uint64_t next() const;  // the `after` of the request for what follows

  const AlertHub& hub_;
  const AlertStoreClient& store_;
  AlertQuery query_;  // `after` moves past everything examined
  std::vector<PublishedAlertPtr> found_;
  std::size_t bytes_ = 0;  // of found_
  Done done_;
};

}  // namespace trainwatch
