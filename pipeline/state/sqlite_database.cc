// SPDX-License-Identifier: Apache-2.0
#include "pipeline/state/sqlite_database.h"

#include <sqlite3.h>

#include <charconv>
#include <system_error>

namespace trainwatch {
namespace {

Error error_of(sqlite3* database) {
  std::string message = sqlite3_errmsg(database);
  const int primary = sqlite3_extended_errcode(database) & 0xff;
  const int system = sqlite3_system_errno(database);
  if ((primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN) && system != 0) {
    message += ": " + std::generic_category().message(system);
  }
  return Error{message};
}

int count_log_pages(void* pages, sqlite3* /*database*/, const char* /*name*/, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

bool says_read_error(std::string_view found) {
  constexpr std::string_view kBeforeCode = "unable to get the page. error code=";
  const std::size_t at = found.find(kBeforeCode);
  if (at == std::string_view::npos) return false;
  found.remove_prefix(at + kBeforeCode.size());
  int code = 0;
  std::from_chars(found.data(), found.data() + found.size(), code);
  return (code & 0xff) == SQLITE_IOERR;
}

}  // namespace

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void SqliteStatement::reset() {
  sqlite3_reset(statement_.get());
  bound_ = true;
}

void SqliteStatement::bind(int index, std::int64_t value) {
  bound_ &= sqlite3_bind_int64(statement_.get(), index, value) == SQLITE_OK;
}

void SqliteStatement::bind(int index, std::string_view value) {
  bound_ &= sqlite3_bind_text64(statement_.get(), index, value.data(), value.size(),
                                SQLITE_TRANSIENT, SQLITE_UTF8) == SQLITE_OK;
}

void SqliteStatement::bind(int index, Blob value) {
  bound_ &= sqlite3_bind_blob64(statement_.get(), index, value.bytes.data(), value.bytes.size(),
                                SQLITE_STATIC) == SQLITE_OK;
}

Result<bool> SqliteStatement::next() {
  if (!bound_) return error();
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const Error failure = error();
  reset();
  return failure;
}

Status SqliteStatement::run() {
  Result<bool> row = next();
  while (row && *row) row = next();
  reset();
  sqlite3_clear_bindings(statement_.get());
  return row ? success() : Status(row.error());
}

std::int64_t SqliteStatement::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string SqliteStatement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

Error SqliteStatement::error() const {
  return error_of(sqlite3_db_handle(statement_.get()));
}

void SqliteDatabase::Close::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

SqliteDatabase::SqliteDatabase(sqlite3* database) : database_(database) {
  sqlite3_wal_hook(database, count_log_pages, log_pages_.get());
  log_goes_on_close(false);
}

Result<SqliteDatabase> SqliteDatabase::open(const std::string& path, const std::string& vfs) {
  sqlite3* raw = nullptr;
  const int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, vfs.empty() ? nullptr : vfs.c_str());
  if (code == SQLITE_OK) return SqliteDatabase(raw);
  const Error failure = error_of(raw);
  sqlite3_close(raw);
  return failure;
}

Status SqliteDatabase::run(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return error();
  }
  return success();
}

Result<std::string> SqliteDatabase::ask(const std::string& sql) {
  Result<SqliteStatement> statement = prepare(sql);
  if (!statement) return statement.error();
  const Result<bool> row = statement->next();
  if (!row) return row.error();
  return *row ? statement->text(0) : std::string();
}

Result<SqliteStatement> SqliteDatabase::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  if (code != SQLITE_OK) return error();
  return SqliteStatement(raw);
}

Status SqliteDatabase::add_function(const char* name, Function function) {
  constexpr int kHow = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  if (sqlite3_create_function(database_.get(), name, -1, kHow, nullptr, function, nullptr,
                              nullptr) != SQLITE_OK) {
    return error();
  }
  return success();
}

// Of pages in chains, such as those of long rows, the text does not say why they are missing.
bool SqliteDatabase::is_read_error(std::string_view found) const {
  return says_read_error(found) ||
         (found != "ok" && (last_errno(SQLITE_FCNTL_FILE_POINTER) != 0 ||
                            last_errno(SQLITE_FCNTL_JOURNAL_POINTER) != 0));
}

// Of the database file or its log; 0: none, or its file system does not say.
int SqliteDatabase::last_errno(int which) const {
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(database_.get(), nullptr, which, &file) != SQLITE_OK) return 0;
  int number = 0;
  if (file == nullptr || file->pMethods == nullptr) return 0;
  return file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number) == SQLITE_OK ? number
                                                                                           : 0;
}

SqliteTrouble SqliteDatabase::trouble() const {
  switch (sqlite3_extended_errcode(database_.get()) & 0xff) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return SqliteTrouble::no_room;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return SqliteTrouble::busy;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:  // the tables are not ours
      return SqliteTrouble::damaged;
    default:
      return SqliteTrouble::io;
  }
}

bool SqliteDatabase::has_moved() const {
  int moved = 0;
  return sqlite3_file_control(database_.get(), nullptr, SQLITE_FCNTL_HAS_MOVED, &moved) ==
             SQLITE_OK &&
         moved != 0;
}

void SqliteDatabase::log_goes_on_close(bool goes) {
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, goes ? 0 : 1, nullptr);
}

Status SqliteDatabase::checkpoint() {
  int pages = 0;
  int moved = 0;
  const int code = sqlite3_wal_checkpoint_v2(database_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                             &pages, &moved);
  if (code != SQLITE_OK) return error();
  if (pages == moved) *log_pages_ = 0;
  return success();
}

Error SqliteDatabase::error() const {
  return error_of(database_.get());
}

}  // namespace trainwatch
