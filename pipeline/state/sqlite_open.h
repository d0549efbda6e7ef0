// SPDX-License-Identifier: Apache-2.0
// Opens the database of a store, or explains why it cannot.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "pipeline/state/sqlite_tables.h"
#include "pipeline/state/state_directory.h"

namespace trainwatch {

struct SqliteOpening {
  std::string path;
  std::string new_epoch;  // for a new store; empty: the store must exist
  std::string writer;     // version text of the writer
  std::string vfs;        // empty: the default
  // Use a rollback journal instead of a write-ahead log, for network file systems.
  bool rollback_journal = false;
};

// The file is ours, but cannot be trusted.
struct SqliteDamage {
  std::string what;
};

using OpenedTables = std::variant<std::unique_ptr<SqliteTables>, SqliteDamage, OpenFailure>;

// Never changes a file that is not a store of this or an older version.
//
// Checks everything each time: header, version, tables, all pages (quick_check: 0.15 s for 200 MB
// in memory), the checksums of all state rows, and both ends of the outbox. The returned connection
// holds the file exclusively and has an empty log.
OpenedTables open_tables(const SqliteOpening& opening);

}  // namespace trainwatch
