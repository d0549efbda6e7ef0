// The newest committed alerts of one epoch, and news for those who listen. Net thread only. Every
// way out (HTTP, WebSocket) reads from this window, so a client's backlog costs no memory of its
// own; what is older has to be asked from the archive, see alert_store_client.h.
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

// The window keeps no more than both allow.
struct WindowLimits {
  std::size_t alerts = 1024;
  std::uint64_t bytes = 8U << 20U;  // of JSON
};

class AlertHub {
 public:
  // Neither may add or drop subscriptions.
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

  // `first_seq` and `last_seq` are those of the store: the oldest alert it still has, and the
  // newest number ever given out. The window starts empty.
  explicit AlertHub(std::string epoch, std::uint64_t first_seq = 1, std::uint64_t last_seq = 0,
                    WindowLimits limits = {});

  // `alerts` are stored, in ascending order of seq, all above last_seq(). Listeners are called
  // once, at once, after the last of them is in.
  void publish(std::vector<PublishedAlertPtr> alerts);

  // The store has dropped what is older than `first_seq`. Never goes back.
  void pruned(std::uint64_t first_seq);

  // Alerts without a number, while the store cannot take any: passed on to the listeners, kept
  // nowhere. They come again by publish() once they are stored.
  void publish_provisional(const std::vector<PublishedAlertPtr>& alerts);

  // The first alert of the window with seq > `cursor` that `filter` wants; null when there is none
  // yet. Moves `cursor` over everything that was looked at. What is older than the window is not
  // missed here: see covers().
  PublishedAlertPtr next(std::uint64_t& cursor, const AlertFilter& filter) const;

  // Bytes of JSON in the window with seq > `after`.
  std::uint64_t bytes_after(std::uint64_t seq) const;

  const std::string& epoch() const { return epoch_; }
  // The oldest alert in the store; last_seq() + 1 when there is none.
  std::uint64_t first_seq() const { return first_seq_; }
  std::uint64_t last_seq() const { return last_seq_; }
  // The oldest alert in the window; last_seq() + 1 when there is none.
  std::uint64_t window_first_seq() const;
  // Everything newer than `seq` is in the window.
  bool covers(std::uint64_t seq) const { return seq + 1 >= window_first_seq(); }

  [[nodiscard]] Registration listen(Listener listener);

 private:
  struct Entry {
    PublishedAlertPtr alert;
    std::uint64_t end_bytes;  // of all JSON up to and with this alert, since the start
  };

  std::deque<Entry>::const_iterator first_after(std::uint64_t seq) const;
  bool over_limits() const;

  std::string epoch_;
  std::uint64_t first_seq_;
  std::uint64_t last_seq_;
  WindowLimits limits_;
  std::uint64_t total_bytes_ = 0;
  std::deque<Entry> window_;
  std::list<Listener> listeners_;
};

}  // namespace trainwatch
