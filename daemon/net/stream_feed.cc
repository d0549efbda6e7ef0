#include "daemon/net/stream_feed.h"

#include <utility>

namespace trainwatch {

StreamFeed::StreamFeed(const AlertHub& hub, const Wishes& wishes)
    : hub_(hub), cursor_(hub.last_seq()) {
  notices_.push_back(hello_frame(hub));
  subscribe(wishes);
}

void StreamFeed::subscribe(const Wishes& wishes) {
  wishes_ = wishes;
  if (!wishes.after) return;
  live_ = false;
  cursor_ = *wishes.after;
  const bool other_epoch = !wishes.epoch.empty() && wishes.epoch != hub_.epoch();
  if (!other_epoch && cursor_ <= hub_.last_seq()) return;
  notices_.push_back(reset_frame(hub_.epoch()));
  cursor_ = 0;
}

std::optional<Frame> StreamFeed::next() {
  if (!notices_.empty()) {
    Frame notice = std::move(notices_.front());
    notices_.pop_front();
    return notice;
  }
  if (heartbeat_) return heartbeat_frame(*std::exchange(heartbeat_, std::nullopt));
  if (wishes_.alerts) {
    if (auto alert = next_alert()) return alert;
  }
  live_ = true;
  const auto status = std::exchange(status_, nullptr);
  if (!status || !wishes_.status || status->status_json.size() <= 2) return std::nullopt;
  return status_frame(status);
}

std::optional<Frame> StreamFeed::next_alert() {
  if (cursor_ + 1 < hub_.first_seq()) {
    const auto from = cursor_ + 1;
    cursor_ = hub_.first_seq() - 1;
    return gap_frame(from, cursor_);
  }
  auto alert = hub_.next(cursor_, wishes_.filter);
  if (!alert) return std::nullopt;
  return alert_frame(std::move(alert));
}

}  // namespace trainwatch
