// The tables of a store and all its statements, prepared once. Transactions are up to the caller.
// An Error is SQLite's; trouble() of the database gives its kind.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pipeline/state/sqlite_database.h"
#include "pipeline/state/state_directory.h"
#include "pipeline/state/state_store.h"
#include "trainwatch/result.h"

namespace trainwatch {

inline constexpr std::uint32_t kApplicationId = 0x54575331;  // 'TWS1'
inline constexpr std::uint32_t kSchemaVersion = 2;

// Creates the tables and sets application id and version, in one transaction, in an empty database.
Status create_schema(SqliteDatabase& database);

// Turns version `from` into version `from` + 1.
struct Migration {
  std::uint32_t from;
  std::string sql;
};

// The steps from every released version.
std::span<const Migration> migrations();

// Migrates the database from version `from` to version `to` in one transaction, after copying it to
// PATH.v<from>.bak. An error, such as a missing step, leaves it as it was.
Status migrate(SqliteDatabase& database, const std::string& path, std::uint32_t from,
               std::uint32_t to, std::span<const Migration> steps);

// XXH3-64 of both, as SQLite's signed integer. SQLite's pages have no checksums.
std::int64_t row_checksum(std::string_view key, std::string_view value);

class SqliteTables {
 public:
  // Moves from the database only on success.
  static Result<std::unique_ptr<SqliteTables>> prepare(SqliteDatabase& database);

  SqliteDatabase& database() { return database_; }

  // Damage that SQLite's own check misses: wrong checksums, or an outbox that is not the unbroken
  // sequence of numbers up to the last one assigned. Empty: none.
  Result<std::string> damage();

  Result<std::vector<StateRow>> rows();
  Status put(const StateRow& row);
  Status erase(const std::string& key);

  Result<std::string> meta(const std::string& key);  // empty if missing
  Status put_meta(const std::string& key, const std::string& value);

  Result<std::optional<LastPublished>> last_published(const std::string& id);
  Status put_last_published(const std::string& id, const LastPublished& last);

  struct Kept {
    std::uint64_t seq = 0;
    std::string id;
    Time stored{};
  };
  Result<std::optional<Kept>> oldest();
  Status add(const PublishedAlert& alert, Time stored);
  // Also forgets the newest version of the alert if it is this one and resolved.
  Status drop(const Kept& oldest);
  Result<PublishedAlerts> alerts_after(std::uint64_t after, std::size_t limit);
  Result<PublishedAlerts> firing(std::size_t limit);

  Result<Acknowledged> acknowledged();
  Status acknowledge(const std::string& name, std::uint64_t seq, Time seen);

 private:
  enum class Query : std::size_t;
  static Result<PublishedAlerts> alerts_of(SqliteStatement& rows);
  SqliteTables(SqliteDatabase database, std::vector<SqliteStatement> statements)
      : database_(std::move(database)), statements_(std::move(statements)) {}
  SqliteStatement& query(Query which) { return statements_[static_cast<std::size_t>(which)]; }
  Result<std::string> damaged_row(Query all, std::string_view table);
  Result<std::string> damaged_outbox();

  SqliteDatabase database_;
  std::vector<SqliteStatement> statements_;  // by Query; destroyed before the database
};

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

// Opens the database of a store, or explains why it cannot (sqlite_open.cc). Never changes a
// file that is not a store of this or an older version.
//
// Checks everything each time: header, version, tables, all pages (quick_check: 0.15 s for 200 MB
// in memory), the checksums of all state rows, and both ends of the outbox. The returned connection
// holds the file exclusively and has an empty log.
OpenedTables open_tables(const SqliteOpening& opening);

}  // namespace trainwatch
