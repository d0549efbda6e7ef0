// SPDX-License-Identifier: Apache-2.0
// A client of the alert stream: takes what is published while it is connected, comes back with the
// number it has, and complains of every gap and every alert that differs from what came
// before.
#pragma once

#include <map>
#include <string>

#include "pipeline/state/state_store.h"

namespace trainwatch::test {

class Subscriber {
 public:
  explicit Subscriber(std::string epoch) : epoch_(std::move(epoch)) {}

  bool connected() const { return connected_; }
  std::uint64_t last() const { return last_; }
  void leave() { connected_ = false; }

  // Comes back saying that it has everything up to `after` of `epoch`. A stream of another epoch is
  // begun anew, as the server's reset frame says.
  void resume(StateStore& store, std::uint64_t after, const std::string& epoch) {
    const bool known = epoch == store.epoch() && after <= store.last_seq();
    last_ = known ? after : store.first_seq() - 1;
    connected_ = true;
    const auto missed = store.alerts_after(last_, SIZE_MAX);
    if (!missed) {
      wrong_ = missed.error().message;
      return;
    }
    for (const auto& alert : *missed) take(*alert);
  }
  void hear(const PublishedAlerts& alerts) {
    if (!connected_) return;
    for (const auto& alert : alerts) take(*alert);
  }

  // What it heard for the first time since the last call, in order.
  std::vector<PublishedAlert> take_new() { return std::exchange(new_, {}); }
  // The first thing that was wrong; empty: nothing was.
  const std::string& wrong() const { return wrong_; }
  // All that it heard, by sequence number.
  const std::map<std::uint64_t, std::string>& heard() const { return heard_; }

 private:
  void take(const PublishedAlert& alert) {
    if (!wrong_.empty()) return;
    if (alert.seq != last_ + 1) {
      wrong_ = "after alert " + std::to_string(last_) + " came " + std::to_string(alert.seq);
      return;
    }
    last_ = alert.seq;
    const auto [known, is_new] = heard_.emplace(alert.seq, alert.json);
    if (is_new) new_.push_back(alert);
    if (known->second != alert.json) {
      wrong_ = "first " + known->second + ", then as " + alert.json;
    }
    if (alert.json.find("\"epoch\":\"" + epoch_ + "\"") == std::string::npos) {
      wrong_ = "another epoch: " + alert.json;
    }
  }

  std::string epoch_;
  bool connected_ = true;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, std::string> heard_;
  std::vector<PublishedAlert> new_;
  std::string wrong_;
};

}  // namespace trainwatch::test
