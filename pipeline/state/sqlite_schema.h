// What a store looks like on disk, and how an older one becomes a newer one.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "pipeline/state/sqlite_database.h"
#include "trainwatch/result.h"

namespace trainwatch {

inline constexpr std::uint32_t kApplicationId = 0x54575331;  // 'TWS1'
inline constexpr std::uint32_t kSchemaVersion = 1;

// Tables, application id and version in one transaction, into an empty database.
Status create_schema(SqliteDatabase& database);

// Makes version `from` + 1 out of version `from`.
struct Migration {
  std::uint32_t from;
  std::string sql;
};

// The steps from every version that was ever released.
std::span<const Migration> migrations();

// Takes the database from version `from` to version `to` in one transaction, after a copy of it
// was put at PATH.v<from>.bak. An error leaves it as it was. A missing step is an error.
Status migrate(SqliteDatabase& database, const std::string& path, std::uint32_t from,
               std::uint32_t to, std::span<const Migration> steps);

// XXH3-64 of both, as SQLite's signed integer. SQLite's pages have no checksums.
std::int64_t row_checksum(std::string_view key, std::string_view value);

}  // namespace trainwatch
