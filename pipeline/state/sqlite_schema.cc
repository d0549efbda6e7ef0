#include "pipeline/state/sqlite_schema.h"

#include <xxhash.h>

#include <algorithm>
#include <filesystem>

namespace trainwatch {
namespace {

constexpr const char* kTables = R"(
CREATE TABLE meta(k TEXT PRIMARY KEY, v BLOB NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE state(key TEXT PRIMARY KEY, value BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE outbox(seq INTEGER PRIMARY KEY, id TEXT NOT NULL, rule TEXT NOT NULL,
  severity INTEGER NOT NULL, state INTEGER NOT NULL, stored INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE told(id TEXT PRIMARY KEY, seq INTEGER NOT NULL, state INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, content BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE subscriber(name TEXT PRIMARY KEY, acked_seq INTEGER NOT NULL, seen INTEGER NOT NULL)
  WITHOUT ROWID;
)";

std::string set_version(std::uint32_t version) {
  return "PRAGMA user_version = " + std::to_string(version) + ";";
}

// An error leaves no transaction open.
Status run_as_one(SqliteDatabase& database, const std::string& sql) {
  Status done = database.run("BEGIN IMMEDIATE;" + sql + "COMMIT;");
  if (!done) (void)database.run("ROLLBACK");
  return done;
}

}  // namespace

Status create_schema(SqliteDatabase& database) {
  return run_as_one(database, kTables + std::string("PRAGMA application_id = ") +
                                  std::to_string(kApplicationId) + ";" +
                                  set_version(kSchemaVersion));
}

std::span<const Migration> migrations() {
  return {};  // 1 is the first version
}

Status migrate(SqliteDatabase& database, const std::string& path, std::uint32_t from,
               std::uint32_t to, std::span<const Migration> steps) {
  std::string sql;
  for (std::uint32_t version = from; version < to; ++version) {
    const auto step = std::ranges::find(steps, version, &Migration::from);
    if (step == steps.end()) {
      return Error{path + ": no step from version " + std::to_string(version)};
    }
    sql += step->sql + ";";
  }
  const std::string backup = path + ".v" + std::to_string(from) + ".bak";
  std::error_code ignored;
  std::filesystem::remove(backup, ignored);  // of an attempt that did not come to its end
  Result<SqliteStatement> copy = database.prepare("VACUUM INTO ?1");
  if (!copy) return copy.error();
  if (Status copied = copy->with(backup).run(); !copied) return copied;
  return run_as_one(database, sql + set_version(to));
}

std::int64_t row_checksum(std::string_view key, std::string_view value) {
  const XXH64_hash_t seed = XXH3_64bits(key.data(), key.size());
  return static_cast<std::int64_t>(XXH3_64bits_withSeed(value.data(), value.size(), seed));
}

}  // namespace trainwatch
