// SPDX-License-Identifier: Apache-2.0
// The newest committed alerts of one epoch, and notification of listeners. Net thread only. Every
// output (HTTP, WebSocket) reads from this window, so a client's backlog needs no memory of its
// own; older alerts come from the store, see alert_store_client.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainwatch/snapshot.h"

namespace trainwatch {

using PublishedAlertPtr = std::shared_ptr<const PublishedAlert>;

// Which alerts a client wants. The default wants all.
struct AlertFilter {
  std::vector<std::string> rules;  // empty: every rule
  std::optional<Alert::State> state;
  Severity min_severity = Severity::info;
  bool parts = false;  // of incidents, too

  bool wants(const PublishedAlert& alert) const;
};

// The window stays within all of them.
struct WindowLimits {
  std::size_t alerts = 1024;
  std::uint64_t bytes = 8U << 20U;  // of JSON
  // Looked at when an alert is published; the newest `of_any_age` are kept.
  std::chrono::seconds age{60};
  std::size_t of_any_age = 128;
};

class AlertHub {
 public:
  using Clock = std::chrono::steady_clock;

  // Neither may add or drop registrations.
  struct Listener {
    std::function<void()> published;  // there are new alerts
    std::function<void(const std::vector<PublishedAlertPtr>&)> provisional;
  };

  // Stops listening when destroyed. Must not outlive the hub.
  class Registration {
   public:
    Registration() = default;
    Registration(AlertHub& hub, std::list<Listener>::iterator place) : hub_(&hub), place_(place) {}
    Registration(Registration&& other) noexcept { *this = std::move(other); }
    Registration& operator=(Registration&& other) noexcept;
    ~Registration();

   private:
    AlertHub* hub_ = nullptr;
    std::list<Listener>::iterator place_{};
  };

  // `first_seq` and `last_seq` are those of the store: the oldest alert that it still has, and the
  // last number assigned. The window starts empty.
  explicit AlertHub(std::string epoch, std::uint64_t first_seq = 1, std::uint64_t last_seq = 0,
                    WindowLimits limits = {});

  // `alerts` are stored, in ascending order of seq, all above last_seq(). Listeners are called
  // once, within the call, after the last one was added.
  void publish(std::vector<PublishedAlertPtr> alerts, Clock::time_point now = Clock::now());

  // The store has dropped everything older than `first_seq`, which never decreases.
  void pruned(std::uint64_t first_seq);

  // Alerts without a number, while the store cannot accept any: passed to the listeners, but not
  // kept. They come again through publish() once they are stored.
  void publish_provisional(const std::vector<PublishedAlertPtr>& alerts);

  // The first alert in the window with seq > `cursor` that `filter` accepts; null if there is none
  // yet. Moves `cursor` past everything examined. Does not notice what is older than the window:
  // see covers().
  PublishedAlertPtr next(std::uint64_t& cursor, const AlertFilter& filter) const;

  // Bytes of JSON in the window with seq > `after`.
  std::uint64_t bytes_after(std::uint64_t seq) const;

  const std::string& epoch() const { return epoch_; }
  // The oldest alert in the store; last_seq() + 1 if there is none.
  std::uint64_t first_seq() const { return first_seq_; }
  std::uint64_t last_seq() const { return last_seq_; }
  // The oldest alert in the window; last_seq() + 1 if there is none.
  std::uint64_t window_first_seq() const;
  // True if everything newer than `seq` is in the window; `seq` may be any number.
  bool covers(std::uint64_t seq) const { return seq >= last_seq_ || seq + 1 >= window_first_seq(); }

  [[nodiscard]] Registration listen(Listener listener);

 private:
  struct Entry {
    PublishedAlertPtr alert;
    std::uint64_t end_bytes;  // of all JSON up to and including this alert, since the start
    Clock::time_point since;  // when it was published
  };

  std::deque<Entry>::const_iterator first_after(std::uint64_t seq) const;
  bool over_limits(Clock::time_point now) const;

  std::string epoch_;
  std::uint64_t first_seq_;
  std::uint64_t last_seq_;
  WindowLimits limits_;
  std::uint64_t total_bytes_ = 0;
  std::deque<Entry> window_;
  std::list<Listener> listeners_;
};

}  // namespace trainwatch
