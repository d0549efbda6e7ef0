// The rows of a store: every statement that it runs, prepared once. Knows nothing of transactions;
// an Error is SQLite's, and trouble() of the database says of which kind.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/state/sqlite_database.h"
#include "pipeline/state/state_store.h"
#include "pipeline/state/told_alerts.h"

namespace trainwatch {

class SqliteTables {
 public:
  // Takes the database, but leaves it on an error.
  static Result<std::unique_ptr<SqliteTables>> prepare(SqliteDatabase& database);

  SqliteDatabase& database() { return database_; }

  // Damage that SQLite's own check does not see: checksums, and an outbox that is not the
  // unbroken run of numbers that ends with the last one given out. Empty: none.
  Result<std::string> damage();

  Result<std::vector<StateRow>> rows();
  Status put(const StateRow& row);
  Status erase(const std::string& key);

  Result<std::string> meta(const std::string& key);  // empty when missing
  Status put_meta(const std::string& key, const std::string& value);

  Result<std::optional<ToldAlert>> told(const std::string& id);
  Status put_told(const std::string& id, const ToldAlert& told);

  struct Kept {
    std::uint64_t seq = 0;
    std::string id;
    Time stored{};
  };
  Result<std::optional<Kept>> oldest();
  Status add(const PublishedAlert& alert, Time stored);
  // Also forgets what was told of it, when this was the last word on a resolved alert.
  Status drop(const Kept& oldest);
  Result<PublishedAlerts> alerts_after(std::uint64_t after, std::size_t limit);

  Result<Acknowledged> acknowledged();
  Status acknowledge(const std::string& name, std::uint64_t seq, Time seen);

 private:
  enum class Query : std::size_t;
  SqliteTables(SqliteDatabase database, std::vector<SqliteStatement> statements)
      : database_(std::move(database)), statements_(std::move(statements)) {}
  SqliteStatement& query(Query which) { return statements_[static_cast<std::size_t>(which)]; }
  Result<std::string> damaged_row(Query all, std::string_view table);
  Result<std::string> damaged_outbox();

  SqliteDatabase database_;
  std::vector<SqliteStatement> statements_;  // by Query; gone before the database is
};

}  // namespace trainwatch
