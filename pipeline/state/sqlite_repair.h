// SPDX-License-Identifier: Apache-2.0
// Repairs what a store can do without: kept alerts, the newest version of each, subscribers and
// notes. Damage of anything else ends the store (SqliteTables::damage()).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pipeline/state/sqlite_tables.h"
#include "trainwatch/result.h"

namespace trainwatch {

// How many rows with a wrong checksum there were.
struct Repaired {
  std::uint64_t alerts = 0;       // in their place stands an alert that says so
  std::uint64_t versions = 0;     // forgotten: such an alert may be published once more
  std::uint64_t subscribers = 0;  // forgotten: such a name begins anew
  std::uint64_t notes = 0;        // forgotten

  // For the log; empty: nothing.
  std::string text() const;
};

// In one transaction. Afterwards every row has its checksum.
Result<Repaired> repair(SqliteTables& tables, std::string_view epoch);

}  // namespace trainwatch
