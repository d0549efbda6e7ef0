// SPDX-License-Identifier: Apache-2.0
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

// The same commit, with all its rows in memory.
inline Commit with_all_rows(const Commit& commit) {
  class Collector final : public StateRowWriter {
   public:
    explicit Collector(Commit& into) : into_(into) {}
    Status put(const std::string& key, std::string_view value) override {
      std::erase(into_.removed, key);
      into_.changed.push_back({key, std::string(value)});
      return success();
    }
    Status erase(const std::string& key) override {
      std::erase_if(into_.changed, [&](const StateRow& row) { return row.key == key; });
      into_.removed.push_back(key);
      return success();
    }

   private:
    Commit& into_;
  };
  Commit whole = commit;
  whole.write_rows = {};
  Collector collector(whole);
  if (commit.write_rows) (void)commit.write_rows(collector);
  return whole;
}

inline Commit acknowledging(Acknowledged cursors) {
  Commit commit;
  commit.acknowledged = std::move(cursors);
  return commit;
}

}  // namespace trainwatch::test
