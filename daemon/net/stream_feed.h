// What one WebSocket client is to be sent next. It holds a place in the stream instead of a queue:
// a slow client costs one page of older alerts at most, and no numbered alert is ever left out
// without a gap message. No sockets, no clocks.
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
  // Says hello; without a place to resume from only alerts that are published from now on follow.
  StreamFeed(const AlertHub& hub, NamedSubscribers& names, const Subscription& subscription);

  // Replaces what the client wants. The place in the stream becomes Subscription::after, or what a
  // name that is new to this connection has acknowledged, or the beginning when the client knows
  // another epoch; otherwise it stays. A name stays with the connection.
  void subscribe(const Subscription& subscription);

  // Moves the cursor of this connection's name; without a name nothing happens.
  void acknowledge(std::uint64_t seq);

  // At most one of each is pending; the latest wins.
  void offer_heartbeat(double lag_seconds) { heartbeat_ = lag_seconds; }
  void offer_status(std::shared_ptr<const Snapshot> snapshot) { status_ = std::move(snapshot); }
  // Steps that were not taken when the next ones come are left out, and counted.
  void offer_steps(const std::shared_ptr<const Snapshot>& snapshot);

  // False when an older one had to give way.
  bool offer_provisional(const PublishedAlertPtr& alert);

  void refuse(std::string_view message) { notices_.push_back(error_frame(message)); }

  // Notices first, then provisional alerts, then alerts, then steps and the status, which therefore
  // wait while alerts are behind.
  std::optional<Frame> next();

  // After which number next() needs a page of the archive, when it needs one that was not asked for
  // yet. The caller asks the archive and gives the answer to take_page().
  std::optional<std::uint64_t> ask_page();
  // The answer to what ask_page() gave. After an error the page is needed again.
  void take_page(AlertStoreClient::Page page);
  bool waits_for_page() const { return asked_.has_value(); }

  // The client once had everything. Only from then on can it be called too slow.
  bool was_live() const { return live_; }
  // Bytes that are published and not yet taken; without bound for a client behind the window.
  std::uint64_t queued_bytes() const;

 private:
  void take_place(const Subscription& subscription);
  void go_to(std::uint64_t seq);
  void take_name(const Subscription& subscription);
  std::optional<Frame> next_provisional();
  std::optional<Frame> next_alert();
  std::optional<Frame> next_of_page();
  std::optional<Frame> next_steps();
  Frame skip_to(std::uint64_t seq);

  const AlertHub& hub_;
  NamedSubscribers& names_;
  Subscription subscription_;
  std::string name_;      // empty: none
  std::uint64_t cursor_;  // the last sequence number that was looked at
  bool live_ = false;
  std::optional<std::uint64_t> asked_;  // the archive, for what is after this
  std::deque<PublishedAlertPtr> page_;  // older than the window
  std::deque<PublishedAlertPtr> provisional_;
  std::deque<Frame> notices_;
  std::optional<double> heartbeat_;
  std::shared_ptr<const Snapshot> status_;
  std::shared_ptr<const Snapshot> steps_;  // null: none are pending
  std::uint64_t steps_dropped_ = 0;        // since the last that were sent
};

}  // namespace trainwatch
