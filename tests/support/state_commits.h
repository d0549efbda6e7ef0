// Commits and alerts for tests of stores, in few words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/state/state_store.h"

namespace trainwatch::test {

inline Time at_second(std::int64_t second) {
  return time_from_ns(second * 1'000'000'000);
}

inline Alert firing(std::string id, std::int64_t updated = 0) {
  Alert alert;
  alert.id = std::move(id);
  alert.updated_at = at_second(updated);
  return alert;
}

inline Alert resolved(std::string id, std::int64_t updated) {
  Alert alert = firing(std::move(id), updated);
  alert.state = Alert::State::resolved;
  return alert;
}

inline Commit commit_of(std::vector<Alert> alerts, Time now = {}) {
  Commit commit;
  commit.now = now;
  commit.alerts = std::move(alerts);
  return commit;
}

inline Commit changing(std::vector<StateRow> changed, std::vector<std::string> removed = {}) {
  Commit commit;
  commit.changed = std::move(changed);
  commit.removed = std::move(removed);
  return commit;
}

inline Commit acknowledging(Acknowledged cursors) {
  Commit commit;
  commit.acknowledged = std::move(cursors);
  return commit;
}

}  // namespace trainwatch::test
