// SPDX-License-Identifier: Apache-2.0
// An engine's state as a restarted process finds it.
#pragma once

#include "pipeline/engine/engine.h"
#include "trainwatch/state_rows.h"

namespace trainwatch::test {

// Takes the changes in, as a store does.
inline void store(const StateRows& changes, StoredRows& rows) {
  for (const auto& [key, value] : changes.changed()) {
    if (value) {
      rows.insert_or_assign(key, *value);
    } else {
      rows.erase(key);
    }
  }
}

inline StoredRows saved(Engine& engine) {
  StateRows changes;
  engine.save(changes, true);
  StoredRows rows;
  store(changes, rows);
  return rows;
}

}  // namespace trainwatch::test
