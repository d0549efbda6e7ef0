// The files of a database, touched while no connection is open, through the same VFS as SQLite's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "trainwatch/result.h"

namespace trainwatch {

// What a database file says of itself in its first bytes.
struct SqliteHead {
  bool is_fragment = false;  // there are bytes, but fewer than the smallest database has
  bool is_database = false;  // the rest means something
  std::uint32_t application = 0;
  std::uint32_t version = 0;
};

// A missing or short file is no database, nor is one that was being made when the power failed: its
// first page may be torn, and SQLite will empty it. Writes nothing.
Result<SqliteHead> read_sqlite_head(const std::string& path, const std::string& vfs);

// Drops what was appended to the write-ahead log of `path` after its first `pages` pages. A log
// that is missing or no longer than that is left alone.
Status cut_sqlite_log(const std::string& path, int pages, const std::string& vfs);

}  // namespace trainwatch
