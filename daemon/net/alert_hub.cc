// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/alert_hub.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace trainwatch {

bool AlertFilter::wants(const PublishedAlert& alert) const {
  if (alert.severity < min_severity || (alert.part && !parts)) return false;
  if (state && *state != alert.state) return false;
  return rules.empty() || std::find(rules.begin(), rules.end(), alert.rule) != rules.end();
}

AlertHub::Registration& AlertHub::Registration::operator=(Registration&& other) noexcept {
  std::swap(hub_, other.hub_);
  std::swap(place_, other.place_);
  return *this;
}

AlertHub::Registration::~Registration() {
  if (hub_ != nullptr) hub_->listeners_.erase(place_);
}

AlertHub::AlertHub(std::string epoch, std::uint64_t first_seq, std::uint64_t last_seq,
                   WindowLimits limits)
    : epoch_(std::move(epoch)), first_seq_(first_seq), last_seq_(last_seq), limits_(limits) {
  assert(first_seq_ <= last_seq_ + 1);
}

bool AlertHub::over_limits(Clock::time_point now) const {
  const bool old = window_.size() > limits_.of_any_age && now - window_.front().since > limits_.age;
  return old || window_.size() > limits_.alerts || bytes_after(0) > limits_.bytes;
}

void AlertHub::publish(std::vector<PublishedAlertPtr> alerts, Clock::time_point now) {
  if (alerts.empty()) return;
  for (auto& alert : alerts) {
    assert(alert->seq > last_seq_);
    last_seq_ = alert->seq;
    total_bytes_ += alert->json.size();
    window_.push_back({std::move(alert), total_bytes_, now});
    while (over_limits(now)) window_.pop_front();
  }
  for (const auto& listener : listeners_) listener.published();
}

void AlertHub::pruned(std::uint64_t first_seq) {
  first_seq_ = std::max(first_seq_, std::min(first_seq, last_seq_ + 1));
  while (window_first_seq() < first_seq_) window_.pop_front();
}

void AlertHub::publish_provisional(const std::vector<PublishedAlertPtr>& alerts) {
  for (const auto& listener : listeners_) listener.provisional(alerts);
}

std::deque<AlertHub::Entry>::const_iterator AlertHub::first_after(std::uint64_t seq) const {
  return std::upper_bound(
      window_.begin(), window_.end(), seq,
      [](std::uint64_t wanted, const Entry& entry) { return wanted < entry.alert->seq; });
}

PublishedAlertPtr AlertHub::next(std::uint64_t& cursor, const AlertFilter& filter) const {
  for (auto entry = first_after(cursor); entry != window_.end(); ++entry) {
    cursor = entry->alert->seq;
    if (filter.wants(*entry->alert)) return entry->alert;
  }
  return nullptr;
}

std::uint64_t AlertHub::bytes_after(std::uint64_t seq) const {
  const auto entry = first_after(seq);
  if (entry == window_.end()) return 0;
  return total_bytes_ - (entry->end_bytes - entry->alert->json.size());
}

std::uint64_t AlertHub::window_first_seq() const {
  return window_.empty() ? last_seq_ + 1 : window_.front().alert->seq;
}

AlertHub::Registration AlertHub::listen(Listener listener) {
  return {*this, listeners_.insert(listeners_.end(), std::move(listener))};
}

}  // namespace trainwatch
