// SPDX-License-Identifier: Apache-2.0
// What one WebSocket client is sent next. It keeps a position in the stream instead of a queue: a
// slow client costs at most one page of older alerts, and no numbered alert is ever skipped without
// a gap message. No sockets, no clocks.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "daemon/net/engine_client.h"
#include "daemon/net/named_subscribers.h"
#include "daemon/net/stream_protocol.h"

namespace trainwatch {

class StreamFeed {
 public:
  // Starts with hello; without a position to resume from, only newly published alerts follow.
  StreamFeed(const AlertHub& hub, NamedSubscribers& names, const Subscription& subscription);
  StreamFeed(const StreamFeed&) = delete;
  StreamFeed& operator=(const StreamFeed&) = delete;
  ~StreamFeed();

  // Replaces the subscription. The position becomes Subscription::after, or what a name that is new
  // to this connection has acknowledged, or the beginning if the client knows another epoch;
  // otherwise it stays. A name stays with the connection.
  void subscribe(const Subscription& subscription);

  // Moves the cursor of this connection's name; does nothing without a name.
  void acknowledge(std::uint64_t seq);

  // At most one of each is pending; the latest wins.
  void offer_heartbeat(double lag_seconds) { heartbeat_ = lag_seconds; }
  // False if the client has not subscribed to it, as with the next two.
  bool offer_status(const std::shared_ptr<const Snapshot>& snapshot);
  // Steps that are still pending when the next ones come are dropped and counted.
  bool offer_steps(const std::shared_ptr<const Snapshot>& snapshot);
  // The same of steps whose tensors are complete.
  bool offer_tensors(const std::shared_ptr<const TensorNews>& news);
  bool wants_tensors() const { return subscription_.tensors; }

  // False if an older one was dropped for it.
  bool offer_provisional(const PublishedAlertPtr& alert);

  void refuse(std::string_view message) { notices_.push_back(error_frame(message)); }

  // Notices first, then provisional alerts, alerts, and last steps, tensors and status, which
  // therefore wait while the client is behind with alerts.
  std::optional<Frame> next();

  // The number after which next() needs a page from the store, unless that was requested already.
  // The caller fetches the page and passes it to take_page().
  std::optional<std::uint64_t> ask_page();
  // The page requested by ask_page(). After an error the page is needed again.
  void take_page(AlertStoreClient::Page page);
  bool waits_for_page() const { return asked_.has_value(); }

  // True if alerts that it has not taken yet have left the window, so that it needs the store.
  bool needs_store() const { return subscription_.alerts && !hub_.covers(cursor_); }

  // True if the client once had everything. Only from then on can it be too slow.
  bool was_live() const { return live_; }
  // Bytes published and not yet taken; the maximum for a client behind the window.
  std::uint64_t queued_bytes() const;

 private:
  void take_place(const Subscription& subscription);
  void go_to(std::uint64_t seq);
  void take_name(const Subscription& subscription);
  std::optional<Frame> next_provisional();
  std::optional<Frame> next_alert();
  std::optional<Frame> next_of_page();
  std::optional<Frame> next_steps();
  std::optional<Frame> next_tensors();
  Frame skip_to(std::uint64_t seq);

  const AlertHub& hub_;
  NamedSubscribers& names_;
  Subscription subscription_;
  std::string name_;      // empty: none
  std::uint64_t cursor_;  // the last sequence number examined
  bool live_ = false;
  std::optional<std::uint64_t> asked_;  // requested from the store: alerts after this
  std::deque<PublishedAlertPtr> page_;  // older than the window
  std::deque<PublishedAlertPtr> provisional_;
  std::deque<Frame> notices_;
  std::optional<double> heartbeat_;
  std::shared_ptr<const Snapshot> status_;
  std::shared_ptr<const Snapshot> steps_;  // null: none are pending
  std::uint64_t steps_dropped_ = 0;        // since the last ones sent
  std::shared_ptr<const TensorNews> tensors_;
  std::uint64_t tensors_dropped_ = 0;
};

}  // namespace trainwatch
