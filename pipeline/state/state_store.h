// SPDX-License-Identifier: Apache-2.0
// What survives a crash: named rows of state, and the published alerts in one numbered sequence.
// commit() stores both or neither. A client may see an alert only after commit() has returned it.
//
// SqliteStore keeps it on disk; tests have a store in memory. Used by the engine thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/alert.h"
#include "trainwatch/result.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/time.h"

namespace trainwatch {

using PublishedAlerts = std::vector<std::shared_ptr<const PublishedAlert>>;

// A piece of state that is written as a whole. The key names its owner ("file/17",
// "rule/step_spike/3"); the value comes from StateIo.
struct StateRow {
  std::string key;
  std::string value;
};

// How far each named subscriber has acknowledged.
using Acknowledged = std::map<std::string, std::uint64_t>;

// What the daemon itself has to remember, by key: silences, and of which alerts receivers know.
using Notes = std::map<std::string, std::string>;

// Receivers of notifications have a position as named subscribers do. No client can take their
// names, and they are never forgotten for others.
inline constexpr std::string_view kReceiverPrefix = "receiver/";

// Takes rows of state during a commit.
class StateRowWriter {
 public:
  virtual ~StateRowWriter() = default;
  virtual Status put(const std::string& key, std::string_view value) = 0;  // inserts or replaces
  virtual Status erase(const std::string& key) = 0;  // unknown ones are ignored
};

struct Commit {
  Time now{};                            // processing time, for retention
  std::vector<StateRow> changed;         // inserted or replaced
  std::vector<std::string> removed;      // keys; unknown ones are ignored
  std::vector<Alert> alerts;             // in order
  Acknowledged acknowledged;             // cursors that moved
  Notes notes{};                         // inserted or replaced; erased where the value is empty
  std::vector<std::string> forgotten{};  // subscribers; unknown ones are ignored
  // Writes further rows, which need not all be in memory at once. Called once at most. A commit
  // that has nothing else, and for which nothing is written, changes nothing.
  std::function<Status(StateRowWriter&)> write_rows{};
};

// Beyond this, the subscriber that has not acknowledged for the longest time is forgotten.
inline constexpr std::size_t kMostSubscribers = 64;

// Those that count for kMostSubscribers.
inline std::size_t subscribers(const Acknowledged& acknowledged) {
  return static_cast<std::size_t>(std::ranges::count_if(
      acknowledged, [](const auto& entry) { return !entry.first.starts_with(kReceiverPrefix); }));
}

// Alerts are kept within both limits; those that a named subscriber has not acknowledged, up to
// twice `alerts`.
struct Retention {
  std::size_t alerts = 100'000;
  Nanos age = std::chrono::hours(24 * 30);
};

class StateStore {
 public:
  virtual ~StateStore() = default;

  // Identifies one unbroken sequence of alerts; a new one begins when state is lost.
  virtual const std::string& epoch() const = 0;

  // All rows of state, in the order of their keys.
  virtual Result<std::vector<StateRow>> load() = 0;

  // Numbers the alerts and makes everything durable. An alert without news (see is_news()) is left
  // out, so that rereading files publishes nothing twice. After an error nothing of the commit is
  // stored, and it may be retried.
  virtual Result<PublishedAlerts> commit(const Commit& commit) = 0;

  // The work after a commit that its alerts need not wait for. Call it once they are published.
  virtual void tidy() {}

  // At most `limit` kept alerts with seq > `after`, oldest first.
  virtual Result<PublishedAlerts> alerts_after(std::uint64_t after, std::size_t limit) = 0;

  // At most `limit` of the alerts that fire now, each in its latest version, oldest first.
  virtual Result<PublishedAlerts> firing(std::size_t limit) = 0;

  // The latest version of the alert with this id; nothing if it is not kept.
  virtual Result<PublishedAlerts> latest(const std::string& id) = 0;

  // The oldest kept alert; last_seq() + 1 if there is none.
  virtual std::uint64_t first_seq() const = 0;
  // The newest sequence number ever assigned.
  virtual std::uint64_t last_seq() const = 0;

  virtual const Acknowledged& acknowledged() const = 0;
  virtual Result<Notes> load_notes() = 0;
  // Since it was opened; see kMostSubscribers.
  virtual std::uint64_t subscribers_forgotten() const { return 0; }

  // Every commit fails from now on; the store must be opened again.
  virtual bool broken() const { return false; }
};

// The newest published version of one alert, so that rereading files (stored state of another
// version, a file whose identity cannot be proved) publishes nothing twice.
struct LastPublished {
  Alert::State state = Alert::State::firing;
  Time updated_at{};
  std::string content;  // content_hash() of its to_json(), see alert_json.h
  std::uint64_t seq = 0;
};

// False if `alert` repeats `last` or is older: a resolved alert does not fire again under its id,
// and content never goes back in time.
inline bool is_news(const LastPublished& last, const Alert& alert, std::string_view content) {
  if (last.content == content) return false;
  if (last.state == Alert::State::resolved && alert.state == Alert::State::firing) return false;
  return last.state != alert.state || alert.updated_at >= last.updated_at;
}

}  // namespace trainwatch
