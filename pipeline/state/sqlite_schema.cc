// SPDX-License-Identifier: Apache-2.0
#include "pipeline/state/sqlite_schema.h"

#include <sqlite3.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace trainwatch {
namespace {

constexpr const char* kNotes =
    "CREATE TABLE note(key TEXT PRIMARY KEY, value BLOB NOT NULL, crc INTEGER NOT NULL) "
    "WITHOUT ROWID;";

constexpr const char* kBatches =
    "CREATE TABLE batch(number INTEGER PRIMARY KEY, rows BLOB NOT NULL, crc INTEGER NOT NULL);";

constexpr const char* kTables = R"(
CREATE TABLE meta(k TEXT PRIMARY KEY, v BLOB NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE state(key TEXT PRIMARY KEY, value BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE outbox(seq INTEGER PRIMARY KEY, id TEXT NOT NULL, rule TEXT NOT NULL,
  severity INTEGER NOT NULL, state INTEGER NOT NULL, stored INTEGER NOT NULL, body TEXT NOT NULL,
  part INTEGER NOT NULL DEFAULT 0, crc INTEGER NOT NULL DEFAULT 0);
CREATE TABLE told(id TEXT PRIMARY KEY, seq INTEGER NOT NULL, state INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, content BLOB NOT NULL, crc INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE subscriber(name TEXT PRIMARY KEY, acked_seq INTEGER NOT NULL, seen INTEGER NOT NULL,
  crc INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
)";

// A body that is damaged already gets no checksum, and is found as damaged when the store is
// opened.
std::string add_checksums() {
  const auto column = [](const std::string& table) {
    return "ALTER TABLE " + table + " ADD COLUMN crc INTEGER NOT NULL DEFAULT 0;";
  };
  const auto fill = [](const std::string& table, std::string_view checksum) {
    return "UPDATE " + table + " SET crc = " + std::string(checksum);
  };
  return column("outbox") + column("told") + column("subscriber") + fill("outbox", kAlertChecksum) +
         " WHERE json_valid(body);" + fill("told", kLastPublishedChecksum) + ";" +
         fill("subscriber", kSubscriberChecksum);
}

std::string set_version(std::uint32_t version) {
  return "PRAGMA user_version = " + std::to_string(version) + ";";
}

// After a failure no transaction is open.
std::optional<MigrationFailure> run_as_one(SqliteDatabase& database, const std::string& sql) {
  const Status done = database.run("BEGIN IMMEDIATE;" + sql + "COMMIT;");
  if (done) return std::nullopt;
  MigrationFailure failure{database.trouble(), done.error().message};
  (void)database.run("ROLLBACK");
  return failure;
}

XXH64_hash_t add_to_checksum(XXH64_hash_t sum, const void* bytes, std::size_t size) {
  return XXH3_64bits_withSeed(bytes, size, sum);
}

void row_checksum_in_sql(sqlite3_context* context, int count, sqlite3_value** values) {
  XXH64_hash_t sum = 0;
  for (sqlite3_value* value : std::span(values, static_cast<std::size_t>(count))) {
    if (sqlite3_value_type(value) == SQLITE_INTEGER) {
      const sqlite3_int64 number = sqlite3_value_int64(value);
      sum = add_to_checksum(sum, &number, sizeof number);
    } else {
      const void* bytes = sqlite3_value_blob(value);
      sum = add_to_checksum(sum, bytes, static_cast<std::size_t>(sqlite3_value_bytes(value)));
    }
  }
  sqlite3_result_int64(context, static_cast<sqlite3_int64>(sum));
}

}  // namespace

std::int64_t row_checksum(std::string_view key, std::string_view value) {
  const XXH64_hash_t sum = add_to_checksum(0, key.data(), key.size());
  return static_cast<std::int64_t>(add_to_checksum(sum, value.data(), value.size()));
}

Status add_row_checksum(SqliteDatabase& database) {
  return database.add_function("row_checksum", row_checksum_in_sql);
}

Status create_schema(SqliteDatabase& database) {
  const auto failure =
      run_as_one(database, kTables + std::string(kNotes) + kBatches + "PRAGMA application_id = " +
                               std::to_string(kApplicationId) + ";" + set_version(kSchemaVersion));
  return failure ? Status(Error{failure->message}) : success();
}

std::span<const Migration> migrations() {
  static const std::array<Migration, 4> kSteps = {
      Migration{1, "ALTER TABLE outbox ADD COLUMN part INTEGER NOT NULL DEFAULT 0"},
      {2, add_checksums()},
      {3, kNotes},
      {4, kBatches}};
  return kSteps;
}

std::optional<MigrationFailure> migrate(SqliteDatabase& database, const std::string& path,
                                        std::uint32_t from, std::uint32_t to,
                                        std::span<const Migration> steps) {
  std::string sql;
  for (std::uint32_t version = from; version < to; ++version) {
    const auto step = std::ranges::find(steps, version, &Migration::from);
    if (step == steps.end()) {
      return MigrationFailure{SqliteTrouble::damaged,
                              "no step from version " + std::to_string(version)};
    }
    sql += step->sql + ";";
  }
  const std::string backup = path + ".v" + std::to_string(from) + ".bak";
  std::error_code ignored;
  std::filesystem::remove(backup, ignored);  // of an unfinished attempt
  Result<SqliteStatement> copy = database.prepare("VACUUM INTO ?1");
  if (!copy) return MigrationFailure{database.trouble(), copy.error().message};
  if (const Status copied = copy->with(backup).run(); !copied) {
    // The copy may fail where the store does not: SQLITE_ERROR is no damage here.
    const SqliteTrouble why = database.trouble();
    return MigrationFailure{why == SqliteTrouble::damaged ? SqliteTrouble::io : why,
                            "cannot copy it to " + backup + ": " + copied.error().message};
  }
  return run_as_one(database, sql + set_version(to));
}

}  // namespace trainwatch
