// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/stream_feed.h"

#include <limits>
#include <utility>

namespace trainwatch {
namespace {

constexpr std::size_t kMaxProvisional = 256;

}  // namespace

StreamFeed::StreamFeed(const AlertHub& hub, NamedSubscribers& names,
                       const Subscription& subscription)
    : hub_(hub), names_(names), cursor_(hub.last_seq()) {
  notices_.push_back(hello_frame(hub));
  subscribe(subscription);
}

StreamFeed::~StreamFeed() {
  if (!name_.empty()) names_.detach(name_);
}

void StreamFeed::subscribe(const Subscription& subscription) {
  take_place(subscription);
  take_name(subscription);
  subscription_ = subscription;
  if (!subscription_.status) status_ = nullptr;
  if (!subscription_.tensors) {
    tensors_ = nullptr;
    tensors_dropped_ = 0;
  }
  if (subscription_.steps) return;
  steps_ = nullptr;
  steps_dropped_ = 0;
}

void StreamFeed::take_place(const Subscription& subscription) {
  auto place = subscription.after;
  if (!place && subscription.name != name_) place = names_.find(subscription.name);
  const bool other_epoch = !subscription.epoch.empty() && subscription.epoch != hub_.epoch();
  if (other_epoch || (place && *place > hub_.last_seq())) {
    notices_.push_back(reset_frame(hub_.epoch()));
    place = 0;
  }
  if (place) go_to(*place);
}

void StreamFeed::go_to(std::uint64_t seq) {
  cursor_ = seq;
  live_ = false;
  page_.clear();
}

// A new name has acknowledged what this client has: nothing newer is dropped from now on.
void StreamFeed::take_name(const Subscription& subscription) {
  if (subscription.name.empty() || subscription.name == name_) return;
  if (!names_.attach(subscription.name, cursor_)) {
    return refuse("subscribe: " + std::to_string(names_.limit()) +
                  " names are in use; this connection gets none");
  }
  if (!name_.empty()) names_.detach(name_);
  name_ = subscription.name;
}

void StreamFeed::acknowledge(std::uint64_t seq) {
  if (seq > hub_.last_seq()) return refuse("ack: seq is above last_seq");
  if (!name_.empty()) names_.acknowledge(name_, seq);
}

bool StreamFeed::offer_provisional(const PublishedAlertPtr& alert) {
  if (!subscription_.alerts || !subscription_.filter.wants(*alert)) return true;
  provisional_.push_back(alert);
  if (provisional_.size() <= kMaxProvisional) return true;
  provisional_.pop_front();
  return false;
}

std::optional<Frame> StreamFeed::next() {
  if (!notices_.empty()) {
    Frame notice = std::move(notices_.front());
    notices_.pop_front();
    return notice;
  }
  if (heartbeat_) return heartbeat_frame(*std::exchange(heartbeat_, std::nullopt));
  if (auto alert = next_provisional()) return alert;
  if (subscription_.alerts) {
    if (auto alert = next_alert()) return alert;
  }
  live_ = live_ || !subscription_.alerts || hub_.covers(cursor_);
  if (auto steps = next_steps()) return steps;
  if (auto tensors = next_tensors()) return tensors;
  const auto status = std::exchange(status_, nullptr);
  if (!status || status->status_json.size() <= 2) return std::nullopt;
  return status_frame(status);
}

bool StreamFeed::offer_status(const std::shared_ptr<const Snapshot>& snapshot) {
  if (!subscription_.status) return false;
  status_ = snapshot;
  return true;
}

bool StreamFeed::offer_steps(const std::shared_ptr<const Snapshot>& snapshot) {
  if (!subscription_.steps || snapshot->steps == 0) return false;
  if (steps_ != nullptr) steps_dropped_ += steps_->steps;
  steps_dropped_ += snapshot->steps_dropped;
  steps_ = snapshot;
  return true;
}

std::optional<Frame> StreamFeed::next_steps() {
  const auto steps = std::exchange(steps_, nullptr);
  if (steps == nullptr) return std::nullopt;
  return step_frame(steps, std::exchange(steps_dropped_, 0));
}

bool StreamFeed::offer_tensors(const std::shared_ptr<const TensorNews>& news) {
  if (!subscription_.tensors) return false;
  if (tensors_ != nullptr) tensors_dropped_ += tensors_->steps;
  tensors_ = news;
  return true;
}

std::optional<Frame> StreamFeed::next_tensors() {
  const auto news = std::exchange(tensors_, nullptr);
  if (news == nullptr) return std::nullopt;
  return tensor_frame(news, std::exchange(tensors_dropped_, 0));
}

std::optional<Frame> StreamFeed::next_provisional() {
  if (provisional_.empty()) return std::nullopt;
  Frame frame = provisional_frame(provisional_.front());
  provisional_.pop_front();
  return frame;
}

std::optional<Frame> StreamFeed::next_alert() {
  if (!hub_.covers(cursor_)) {
    if (auto frame = next_of_page()) return frame;
  }
  if (cursor_ + 1 < hub_.first_seq()) return skip_to(hub_.first_seq());
  if (!hub_.covers(cursor_)) return std::nullopt;  // until the next page
  page_.clear();
  const auto alert = hub_.next(cursor_, subscription_.filter);
  if (!alert) return std::nullopt;
  return alert_frame(alert);
}

Frame StreamFeed::skip_to(std::uint64_t seq) {
  const auto from = cursor_ + 1;
  cursor_ = seq - 1;
  return gap_frame(from, cursor_);
}

std::optional<Frame> StreamFeed::next_of_page() {
  while (!page_.empty() && !hub_.covers(cursor_)) {
    // The alerts between were dropped from the store in the meantime.
    if (page_.front()->seq > cursor_ + 1) return skip_to(page_.front()->seq);
    const auto alert = std::move(page_.front());
    page_.pop_front();
    cursor_ = alert->seq;
    if (subscription_.filter.wants(*alert)) return alert_frame(alert);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> StreamFeed::ask_page() {
  if (asked_ || !subscription_.alerts || !page_.empty() || hub_.covers(cursor_))
    return std::nullopt;
  asked_ = cursor_;
  return asked_;
}

void StreamFeed::take_page(AlertStoreClient::Page page) {
  const auto after = std::exchange(asked_, std::nullopt);
  if (!page || after != cursor_) return;  // the client has moved elsewhere
  page_.assign(page->begin(), page->end());
  if (!page_.empty() || hub_.covers(cursor_)) return;
  // The store has nothing left that is older than the window.
  notices_.push_back(skip_to(hub_.window_first_seq()));
}

std::uint64_t StreamFeed::queued_bytes() const {
  if (!subscription_.alerts || cursor_ >= hub_.last_seq()) return 0;
  if (!hub_.covers(cursor_)) return std::numeric_limits<std::uint64_t>::max();
  return hub_.bytes_after(cursor_);
}

}  // namespace trainwatch
