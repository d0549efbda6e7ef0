// What one WebSocket client is to be sent next. It holds a place in the hub's window instead of a
// queue: a slow client costs no memory, and no alert is ever dropped without a gap message. No
// sockets, no clocks.
#pragma once

#include <deque>
#include <optional>

#include "daemon/net/stream_protocol.h"

namespace trainwatch {

class StreamFeed {
 public:
  // Says hello; without Wishes::after only alerts that are published from now on follow.
  StreamFeed(const AlertHub& hub, const Wishes& wishes);

  // Replaces what the client wants. Without Wishes::after the place in the stream stays.
  void subscribe(const Wishes& wishes);

  // At most one of each is pending; the latest wins.
  void offer_heartbeat(double lag_seconds) { heartbeat_ = lag_seconds; }
  void offer_status(std::shared_ptr<const Snapshot> snapshot) { status_ = std::move(snapshot); }

  void refuse(std::string_view message) { notices_.push_back(error_frame(message)); }

  // Notices first, then alerts, then the status, which therefore waits while alerts are behind.
  std::optional<Frame> next();

  // The client once had everything. Only from then on can it be called too slow.
  bool was_live() const { return live_; }
  std::uint64_t lag_bytes() const { return wishes_.alerts ? hub_.bytes_after(cursor_) : 0; }

 private:
  std::optional<Frame> next_alert();

  const AlertHub& hub_;
  Wishes wishes_;
  std::uint64_t cursor_;  // the last sequence number that was looked at
  bool live_ = false;
  std::deque<Frame> notices_;
  std::optional<double> heartbeat_;
  std::shared_ptr<const Snapshot> status_;
};

}  // namespace trainwatch
