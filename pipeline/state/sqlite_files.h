// SPDX-License-Identifier: Apache-2.0
// Accesses the files of a database while no connection is open, through SQLite's VFS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "trainwatch/result.h"

namespace trainwatch {

// The content of the first bytes of a database file.
struct SqliteHead {
  bool is_fragment = false;  // there are bytes, but too few for any database
  bool is_database = false;  // the fields below are valid
  bool is_writable = false;  // SQLite only reads a format that it does not know
  std::uint32_t application = 0;
  std::uint32_t version = 0;
};

// A missing or short file is not a database, nor is one that was being created when the power
// failed: its first page may be torn, and SQLite will empty it. Does not write.
Result<SqliteHead> read_sqlite_head(const std::string& path, const std::string& vfs);

// Truncates the write-ahead log of `path` to its first `pages` pages. A missing or shorter log is
// left alone.
Status cut_sqlite_log(const std::string& path, int pages, const std::string& vfs);

}  // namespace trainwatch
