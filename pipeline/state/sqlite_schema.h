// SPDX-License-Identifier: Apache-2.0
// The tables of a store, how older ones become them, and what is checked of every row: SQLite's
// pages have no checksums, so each row has one of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "pipeline/state/sqlite_database.h"

namespace trainwatch {

inline constexpr std::uint32_t kApplicationId = 0x54575331;  // 'TWS1'
inline constexpr std::uint32_t kFirstSchemaVersion = 1;
inline constexpr std::uint32_t kSchemaVersion = 5;
// No version will ever be larger: such a number is a flipped bit.
inline constexpr std::uint32_t kLargestSchemaVersion = 0xFFFF;

// Chained XXH3-64 of key and value, as SQLite's signed integer.
std::int64_t row_checksum(std::string_view key, std::string_view value);

// The same in SQL, for any number of values: row_checksum(a, b, ...).
Status add_row_checksum(SqliteDatabase& database);

// What the column `crc` of each table must be, in SQL.
inline constexpr std::string_view kAlertChecksum =
    "row_checksum(seq, id, rule, severity, state, stored, body, part)";
inline constexpr std::string_view kLastPublishedChecksum =
    "row_checksum(id, seq, state, updated_at, content)";
inline constexpr std::string_view kSubscriberChecksum = "row_checksum(name, acked_seq, seen)";
inline constexpr std::string_view kNoteChecksum = "row_checksum(key, value)";

// Creates the tables and sets application id and version, in one transaction, in an empty database.
Status create_schema(SqliteDatabase& database);

// Turns version `from` into version `from` + 1.
struct Migration {
  std::uint32_t from;
  std::string sql;
};

// The steps from every released version.
std::span<const Migration> migrations();

struct MigrationFailure {
  SqliteTrouble why = SqliteTrouble::io;
  std::string message;
};

// Migrates the database from version `from` to version `to` in one transaction, after copying it to
// PATH.v<from>.bak. A failure, such as a missing step, leaves it as it was.
std::optional<MigrationFailure> migrate(SqliteDatabase& database, const std::string& path,
                                        std::uint32_t from, std::uint32_t to,
                                        std::span<const Migration> steps);

}  // namespace trainwatch
