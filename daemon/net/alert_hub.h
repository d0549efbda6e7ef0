// The committed alerts of one epoch that clients may still ask for: the newest `capacity` ones.
// Net thread only. Every way out (HTTP, WebSocket) reads from here, so a client's backlog costs no
// memory of its own.
#pragma once

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

  bool wants(const PublishedAlert& alert) const;
};

class AlertHub {
 public:
  using Listener = std::function<void()>;

  // Stops listening when destroyed. Must not outlive the hub.
  class Subscription {
   public:
    Subscription() = default;
    Subscription(AlertHub& hub, std::list<Listener>::iterator place) : hub_(&hub), place_(place) {}
    Subscription(Subscription&& other) noexcept { *this = std::move(other); }
    Subscription& operator=(Subscription&& other) noexcept;
    ~Subscription();

   private:
    AlertHub* hub_ = nullptr;
    std::list<Listener>::iterator place_{};
  };

  // `last_seq` is the newest sequence number ever given out in this epoch, also when its alert is
  // no longer stored: what publish() brings must be newer.
  explicit AlertHub(std::string epoch, std::uint64_t last_seq = 0, std::size_t capacity = 100'000);

  // `alerts` in ascending order of seq, all above last_seq(). Listeners are called once, at once,
  // after the last of them is in.
  void publish(std::vector<PublishedAlertPtr> alerts);

  // At most `limit` alerts with seq > `after` that `filter` wants, oldest first.
  std::vector<PublishedAlertPtr> after(std::uint64_t seq, std::size_t limit,
                                       const AlertFilter& filter = {}) const;

  // The first alert with seq > `cursor` that `filter` wants; null when there is none yet. Moves
  // `cursor` over everything that was looked at.
  PublishedAlertPtr next(std::uint64_t& cursor, const AlertFilter& filter) const;

  // Bytes of JSON in the window with seq > `after`.
  std::uint64_t bytes_after(std::uint64_t seq) const;

  const std::string& epoch() const { return epoch_; }
  // The oldest alert still here; last_seq() + 1 when there is none.
  std::uint64_t first_seq() const;
  std::uint64_t last_seq() const { return last_seq_; }

  // The listener must not add or drop subscriptions while it is called.
  [[nodiscard]] Subscription on_publish(Listener listener);

 private:
  struct Entry {
    PublishedAlertPtr alert;
    std::uint64_t end_bytes;  // of all JSON up to and with this alert, since the start
  };

  std::deque<Entry>::const_iterator first_after(std::uint64_t seq) const;

  std::string epoch_;
  std::uint64_t last_seq_;
  std::size_t capacity_;
  std::uint64_t total_bytes_ = 0;
  std::deque<Entry> window_;
  std::list<Listener> listeners_;
};

}  // namespace trainwatch
