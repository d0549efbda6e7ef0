// The answer to one GET /api/v1/alerts, from the window and, for what is older, from the archive.
// No sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "daemon/net/engine_client.h"
#include "daemon/net/http_message.h"

namespace trainwatch {

struct AlertQuery {
  std::uint64_t after = 0;
  std::size_t limit = 1000;  // and never more
  AlertFilter filter{};
};

// Nothing when a parameter is unknown or its value is not allowed.
std::optional<AlertQuery> parse_alert_query(std::string_view query);

class AlertsResponse final : public DeferredResponse,
                             public std::enable_shared_from_this<AlertsResponse> {
 public:
  // `hub` and `archive` must outlive it.
  AlertsResponse(const AlertHub& hub, const AlertStoreClient& archive, AlertQuery query)
      : hub_(hub), archive_(archive), query_(std::move(query)) {}

  // The reply when the archive is not needed for it.
  std::optional<HttpResponse> now();
  // Asks the archive, once after now() gave nothing. `done` is called once, later: 503 when the
  // archive fails.
  void later(Done done) override;

 private:
  bool full() const;
  void take(const PublishedAlertPtr& alert);
  void ask();
  void answered(AlertStoreClient::Page page);
  HttpResponse reply() const;

  const AlertHub& hub_;
  const AlertStoreClient& archive_;
  AlertQuery query_;  // `after` moves over what was looked at
  std::vector<PublishedAlertPtr> found_;
  std::size_t bytes_ = 0;  // of found_
  Done done_;
};

}  // namespace trainwatch
