// Opens a store's database, or says what is the matter with it. Never changes a file that is not a
// store of this version or an older one.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "pipeline/state/open_failure.h"
#include "pipeline/state/sqlite_tables.h"

namespace trainwatch {

struct SqliteOpening {
  std::string path;
  std::string new_epoch;  // for a store that is made; empty: there must be one
  std::string writer;     // version text of who writes it
  std::string vfs;        // empty: the usual one
  // With a rollback journal instead of a write-ahead log, for network file systems.
  bool rollback_journal = false;
};

// A file of ours that cannot be trusted.
struct SqliteDamage {
  std::string what;
};

using OpenedTables = std::variant<std::unique_ptr<SqliteTables>, SqliteDamage, OpenFailure>;

// Everything is checked each time: the header, the version, the tables, all pages (quick_check:
// 0.15 s for 200 MB that are in memory), the checksums of all state rows and the ends of the
// outbox. What is returned holds the file exclusively and has nothing left in its log.
OpenedTables open_tables(const SqliteOpening& opening);

}  // namespace trainwatch
