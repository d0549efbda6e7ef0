// SPDX-License-Identifier: Apache-2.0
// The tables of a store and all its statements, prepared once. When a transaction begins and ends
// is up to the caller. An Error is SQLite's, whose kind is trouble() of the database, or a wrong
// checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/state/row_batch.h"
#include "pipeline/state/sqlite_database.h"
#include "pipeline/state/state_store.h"
#include "trainwatch/result.h"

namespace trainwatch {

class SqliteTables {
 public:
  // Moves from the database only on success.
  static Result<std::unique_ptr<SqliteTables>> prepare(SqliteDatabase& database);

  SqliteDatabase& database() { return database_; }

  Status begin();
  Status commit();

  // Damage that SQLite's own check misses: wrong checksums, or an outbox that is not the unbroken
  // sequence of numbers up to the last one assigned. Empty: none.
  Result<std::string> damage();

  // With what the batches change.
  Result<std::vector<StateRow>> rows();
  Status put(std::string_view key, std::string_view value);
  Status erase(const std::string& key);

  // Rows in one piece; see SqliteTransaction.
  Status add_batch(std::uint64_t number, std::string_view encoded);
  Result<RowChanges> batches();
  Result<std::size_t> batched_bytes();
  Status drop_batches();

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
  // Replaces an alert of the same number.
  Status add(const PublishedAlert& alert, Time stored);
  // Also forgets the newest version of the alert if it is this one and resolved.
  Status drop(const Kept& oldest);
  Result<PublishedAlerts> alerts_after(std::uint64_t after, std::size_t limit);
  Result<PublishedAlerts> firing(std::size_t limit);
  Result<PublishedAlerts> latest(const std::string& id);

  Result<Acknowledged> acknowledged();
  Status acknowledge(const std::string& name, std::uint64_t seq, Time seen);
  // The name of the one that has not acknowledged for the longest time, which is gone now. Never a
  // receiver.
  Result<std::string> drop_oldest_subscriber();
  Status forget_subscriber(const std::string& name);

  Result<Notes> notes();
  Status put_note(const std::string& key, const std::string& value);
  Status erase_note(const std::string& key);

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

}  // namespace trainwatch
