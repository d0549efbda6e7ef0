// What survives a crash: named rows of state, and the alerts that were told, in one numbered
// sequence. commit() takes both or nothing. An alert may be seen by a client only after commit()
// returned it.
//
// Two stores do the same: SqliteStore on disk, MemoryStore for replay-like runs and simulations.
// Used by the engine thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trainwatch/alert.h"
#include "trainwatch/result.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/time.h"

namespace trainwatch {

using PublishedAlerts = std::vector<std::shared_ptr<const PublishedAlert>>;

// A piece of state that is written as a whole: the key says whose ("file/17", "rule/step_spike/3"),
// the value is what StateIo made.
struct StateRow {
  std::string key;
  std::string value;
};

// How far each named subscriber has acknowledged.
using Acknowledged = std::map<std::string, std::uint64_t>;

struct Commit {
  Time now{};                        // processing time, for retention
  std::vector<StateRow> changed;     // inserted or replaced
  std::vector<std::string> removed;  // keys; unknown ones do no harm
  std::vector<Alert> alerts;         // in the order in which they were told
  Acknowledged acknowledged;         // cursors that moved
};

// Alerts are kept while both bounds allow it. What a named subscriber has not acknowledged is kept
// up to twice `alerts`.
struct Retention {
  std::size_t alerts = 100'000;
  Nanos age = std::chrono::hours(24 * 30);
};

class StateStore {
 public:
  virtual ~StateStore() = default;

  // Identifies one unbroken sequence of alerts; a new one begins when the state is lost.
  virtual const std::string& epoch() const = 0;

  // All rows of state, in the order of their keys.
  virtual Result<std::vector<StateRow>> load() = 0;

  // Gives the alerts their sequence numbers and makes everything durable. An alert that says
  // nothing new (is_news(), see told_alerts.h) is left out: files that are read again tell nothing
  // twice. After an error nothing of the commit is there; it may be tried again.
  virtual Result<PublishedAlerts> commit(const Commit& commit) = 0;

  // At most `limit` kept alerts with seq > `after`, oldest first.
  virtual Result<PublishedAlerts> alerts_after(std::uint64_t after, std::size_t limit) = 0;

  // The oldest alert that is kept; last_seq() + 1 when there is none.
  virtual std::uint64_t first_seq() const = 0;
  // The newest sequence number ever given out.
  virtual std::uint64_t last_seq() const = 0;

  virtual const Acknowledged& acknowledged() const = 0;

  // Every commit fails from here on; only opening the store anew helps.
  virtual bool broken() const { return false; }
};

}  // namespace trainwatch
