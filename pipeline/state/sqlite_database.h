// SPDX-License-Identifier: Apache-2.0
// One SQLite connection and its prepared statements, with errors as values. Text and blobs are
// copied in and out, so nothing that SQLite owns leaves these classes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "trainwatch/result.h"

struct sqlite3;
struct sqlite3_context;
struct sqlite3_stmt;
struct sqlite3_value;

namespace trainwatch {

// What the last failed call means for the caller.
enum class SqliteTrouble : std::uint8_t {
  no_room,  // the transaction was rolled back and may be retried on this connection
  busy,     // another process has the database
  damaged,  // the file is not a database, or not as we wrote it
  io,       // anything else: do not trust this connection any more
};

// Bound as a blob, without a copy: the bytes must live until run() has returned. std::string_view
// is bound as text.
struct Blob {
  std::string_view bytes;
};

class SqliteStatement {
 public:
  explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}  // takes ownership

  // Restarts with these values for ?1, ?2, ...
  template <class... Values>
  SqliteStatement& with(const Values&... values) {
    reset();
    int index = 0;
    (bind(++index, values), ...);
    return *this;
  }

  Status run();         // to the end; forgets the values
  Result<bool> next();  // true: there is a row for the functions below
  void reset();         // releases the row

  std::int64_t number(int column) const;
  std::string text(int column) const;  // of a text or blob

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  void bind(int index, std::int64_t value);
  void bind(int index, std::string_view value);
  void bind(int index, Blob value);
  Error error() const;

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  bool bound_ = true;  // false: a value did not fit into memory
};

class SqliteDatabase {
 public:
  // Creates the file if it is missing. `vfs` is SQLite's name; empty: the default. Until
  // log_goes_on_close() is called, the connection leaves an existing write-ahead log alone.
  static Result<SqliteDatabase> open(const std::string& path, const std::string& vfs);

  Status run(const std::string& sql);               // any number of statements, rows ignored
  Result<std::string> ask(const std::string& sql);  // first column of the first row, as text
  Result<SqliteStatement> prepare(std::string_view sql);

  // A pure function of any number of values, for statements only: a schema cannot call it.
  using Function = void (*)(sqlite3_context*, int, sqlite3_value**);
  Status add_function(const char* name, Function function);

  SqliteTrouble trouble() const;  // of the last failed call
  // True if PRAGMA quick_check has just `found` an unreadable page rather than a wrong one.
  bool is_read_error(std::string_view found) const;

  // Whether the file was removed, renamed or replaced since it was opened.
  bool has_moved() const;

  // Whether closing moves the write-ahead log into the database and deletes it.
  void log_goes_on_close(bool goes);
  // Moves the write-ahead log into the database, both synced.
  Status checkpoint();
  // Pages of the write-ahead log that must not be lost: those committed since the last checkpoint.
  int log_pages() const { return *log_pages_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit SqliteDatabase(sqlite3* database);
  Error error() const;
  int last_errno(int which) const;

  std::unique_ptr<int> log_pages_ = std::make_unique<int>(0);  // written by SQLite's hook
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace trainwatch
