// SPDX-License-Identifier: Apache-2.0
#include "pipeline/state/sqlite_tables.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "pipeline/state/sqlite_schema.h"

namespace trainwatch {

enum class SqliteTables::Query : std::size_t {
  begin,
  commit,
  all_rows,
  put_row,
  erase_row,
  all_batches,
  batched_bytes,
  add_batch,
  drop_batches,
  all_meta,
  get_meta,
  put_meta,
  get_last_published,
  put_last_published,
  forget_last_published,
  oldest,
  newest,
  add,
  drop,
  alerts_after,
  firing,
  latest,
  all_subscribers,
  put_subscriber,
  drop_subscriber,
  forget_subscriber,
  all_notes,
  put_note,
  erase_note,
  count,
};

namespace {

constexpr std::array kSql{
    "BEGIN IMMEDIATE",
    "COMMIT",
    "SELECT key, value, crc FROM state ORDER BY key",
    "INSERT INTO state VALUES(?1, ?2, ?3) "
    "ON CONFLICT(key) DO UPDATE SET value = excluded.value, crc = excluded.crc",
    "DELETE FROM state WHERE key = ?1",
    "SELECT number, rows, crc FROM batch ORDER BY number",
    "SELECT ifnull(sum(length(rows)), 0) FROM batch",
    "INSERT INTO batch VALUES(?1, ?2, ?3)",
    "DELETE FROM batch",
    "SELECT k, v, crc FROM meta ORDER BY k",
    "SELECT v FROM meta WHERE k = ?1",
    "INSERT INTO meta VALUES(?1, ?2, ?3) "
    "ON CONFLICT(k) DO UPDATE SET v = excluded.v, crc = excluded.crc",
    "SELECT seq, state, updated_at, content, crc IS row_checksum(id, seq, state, updated_at, "
    "content) "
    "FROM told WHERE id = ?1",
    "INSERT OR REPLACE INTO told VALUES(?1, ?2, ?3, ?4, ?5, row_checksum(?1, ?2, ?3, ?4, ?5))",
    "DELETE FROM told WHERE id = ?1 AND seq = ?2 AND state = ?3",
    "SELECT seq, id, stored FROM outbox ORDER BY seq LIMIT 1",
    "SELECT max(seq) FROM outbox",
    "INSERT OR REPLACE INTO outbox VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
    "row_checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8))",
    "DELETE FROM outbox WHERE seq = ?1",
    "SELECT seq, id, rule, severity, state, body, part, "
    "crc IS row_checksum(seq, id, rule, severity, state, stored, body, part) "
    "FROM outbox WHERE seq > ?1 ORDER BY seq LIMIT ?2",
    "SELECT o.seq, o.id, o.rule, o.severity, o.state, o.body, o.part, o.crc IS "
    "row_checksum(o.seq, o.id, o.rule, o.severity, o.state, o.stored, o.body, o.part) "
    "FROM told CROSS JOIN outbox AS o ON o.seq = told.seq "
    "WHERE told.state = ?1 ORDER BY o.seq LIMIT ?2",
    "SELECT o.seq, o.id, o.rule, o.severity, o.state, o.body, o.part, o.crc IS "
    "row_checksum(o.seq, o.id, o.rule, o.severity, o.state, o.stored, o.body, o.part) "
    "FROM told CROSS JOIN outbox AS o ON o.seq = told.seq WHERE told.id = ?1",
    "SELECT name, acked_seq FROM subscriber",
    "INSERT OR REPLACE INTO subscriber VALUES(?1, ?2, ?3, row_checksum(?1, ?2, ?3))",
    "DELETE FROM subscriber WHERE name = "
    "(SELECT name FROM subscriber WHERE name NOT LIKE 'receiver/%' ORDER BY seen, name LIMIT 1) "
    "RETURNING name",
    "DELETE FROM subscriber WHERE name = ?1",
    "SELECT key, value FROM note",
    "INSERT OR REPLACE INTO note VALUES(?1, ?2, row_checksum(?1, ?2))",
    "DELETE FROM note WHERE key = ?1",
};

template <class Enum>
std::int64_t stored_as(Enum value) {
  return static_cast<std::int64_t>(value);
}

// Found after opening; opening the store again repairs it.
Error wrong_checksum(SqliteStatement& row, const std::string& what) {
  row.reset();
  return Error{what + ": wrong checksum"};
}

std::uint64_t unsigned_number(const SqliteStatement& row, int column) {
  return static_cast<std::uint64_t>(row.number(column));
}

}  // namespace

Result<std::unique_ptr<SqliteTables>> SqliteTables::prepare(SqliteDatabase& database) {
  static_assert(kSql.size() == static_cast<std::size_t>(Query::count));
  std::vector<SqliteStatement> statements;
  for (const char* sql : kSql) {
    Result<SqliteStatement> statement = database.prepare(sql);
    if (!statement) return statement.error();
    statements.push_back(std::move(*statement));
  }
  return std::unique_ptr<SqliteTables>(
      new SqliteTables(std::move(database), std::move(statements)));
}

Result<std::string> SqliteTables::damaged_row(Query all, std::string_view table) {
  SqliteStatement& row = query(all).with();
  while (true) {
    const Result<bool> more = row.next();
    if (!more) return more.error();
    if (!*more) return std::string();
    const std::string key = row.text(0);
    if (row_checksum(key, row.text(1)) != row.number(2)) {
      row.reset();
      return std::string(table).append(" ").append(key).append(": wrong checksum");
    }
  }
}

Result<std::string> SqliteTables::damaged_outbox() {
  const Result<std::string> epoch = meta("epoch");
  if (!epoch) return epoch.error();
  const Result<std::string> last = meta("last_seq");
  if (!last) return last.error();
  const Result<std::string> commits = meta("commits");
  if (!commits) return commits.error();
  if (epoch->empty() != last->empty() || epoch->empty() != commits->empty()) {
    return std::string("an epoch without its numbers");
  }
  SqliteStatement& newest = query(Query::newest).with();
  if (const Result<bool> row = newest.next(); !row) return row.error();
  const std::string found = newest.text(0);  // empty: no alert is kept
  newest.reset();
  if (found.empty() || found == *last) return std::string();
  return "the newest alert is " + found + " and not " + *last;
}

Result<std::string> SqliteTables::damage() {
  for (const auto& [all, table] : {std::pair(Query::all_meta, "meta"),
                                   {Query::all_rows, "state"},
                                   {Query::all_batches, "batch"}}) {
    Result<std::string> damaged = damaged_row(all, table);
    if (!damaged || !damaged->empty()) return damaged;
  }
  return damaged_outbox();
}

Result<std::vector<StateRow>> SqliteTables::rows() {
  const Result<RowChanges> changes = batches();
  if (!changes) return changes.error();
  auto change = changes->rows().begin();
  std::vector<StateRow> found;
  // Both are in the order of their keys.
  const auto add_changes = [&](const auto& are_next) {
    for (; change != changes->rows().end() && are_next(change->first); ++change) {
      if (change->second) found.push_back({change->first, *change->second});
    }
  };
  SqliteStatement& row = query(Query::all_rows).with();
  while (true) {
    const Result<bool> more = row.next();
    if (!more) return more.error();
    if (!*more) break;
    std::string key = row.text(0);
    add_changes([&](const std::string& changed) { return changed < key; });
    const bool replaced = change != changes->rows().end() && change->first == key;
    if (!replaced) found.push_back({std::move(key), row.text(1)});
  }
  add_changes([](const std::string&) { return true; });
  return found;
}

Status SqliteTables::add_batch(std::uint64_t number, std::string_view encoded) {
  return query(Query::add_batch)
      .with(stored_as(number), Blob{encoded}, row_checksum(std::to_string(number), encoded))
      .run();
}

Result<RowChanges> SqliteTables::batches() {
  RowChanges changes;
  SqliteStatement& row = query(Query::all_batches).with();
  while (true) {
    const Result<bool> more = row.next();
    if (!more) return more.error();
    if (!*more) return changes;
    if (!changes.add(row.text(1))) return wrong_checksum(row, "batch " + row.text(0));
  }
}

Result<std::size_t> SqliteTables::batched_bytes() {
  SqliteStatement& row = query(Query::batched_bytes).with();
  if (const Result<bool> found = row.next(); !found) return found.error();
  const std::uint64_t bytes = unsigned_number(row, 0);
  row.reset();
  return bytes;
}

Status SqliteTables::drop_batches() {
  return query(Query::drop_batches).with().run();
}

Status SqliteTables::begin() {
  return query(Query::begin).with().run();
}

Status SqliteTables::commit() {
  return query(Query::commit).with().run();
}

Status SqliteTables::put(std::string_view key, std::string_view value) {
  return query(Query::put_row).with(key, Blob{value}, row_checksum(key, value)).run();
}

Status SqliteTables::erase(const std::string& key) {
  return query(Query::erase_row).with(key).run();
}

Result<std::string> SqliteTables::meta(const std::string& key) {
  SqliteStatement& row = query(Query::get_meta).with(key);
  const Result<bool> found = row.next();
  if (!found) return found.error();
  std::string value = *found ? row.text(0) : std::string();
  row.reset();
  return value;
}

Status SqliteTables::put_meta(const std::string& key, const std::string& value) {
  return query(Query::put_meta).with(key, Blob{value}, row_checksum(key, value)).run();
}

Result<std::optional<LastPublished>> SqliteTables::last_published(const std::string& id) {
  SqliteStatement& row = query(Query::get_last_published).with(id);
  const Result<bool> found = row.next();
  if (!found) return found.error();
  std::optional<LastPublished> last_published;
  if (*found) {
    if (row.number(4) != 1) return wrong_checksum(row, "alert " + id);
    last_published = {static_cast<Alert::State>(row.number(1)), time_from_ns(row.number(2)),
                      row.text(3), unsigned_number(row, 0)};
  }
  row.reset();
  return last_published;
}

Status SqliteTables::put_last_published(const std::string& id,
                                        const LastPublished& last_published) {
  return query(Query::put_last_published)
      .with(id, stored_as(last_published.seq), stored_as(last_published.state),
            to_ns(last_published.updated_at), Blob{last_published.content})
      .run();
}

Result<std::optional<SqliteTables::Kept>> SqliteTables::oldest() {
  SqliteStatement& row = query(Query::oldest).with();
  const Result<bool> found = row.next();
  if (!found) return found.error();
  std::optional<Kept> kept;
  if (*found) kept = {unsigned_number(row, 0), row.text(1), time_from_ns(row.number(2))};
  row.reset();
  return kept;
}

Status SqliteTables::add(const PublishedAlert& alert, Time stored) {
  return query(Query::add)
      .with(stored_as(alert.seq), alert.id, alert.rule, stored_as(alert.severity),
            stored_as(alert.state), to_ns(stored), alert.json,
            static_cast<std::int64_t>(alert.part))
      .run();
}

Status SqliteTables::drop(const Kept& oldest) {
  const std::int64_t seq = stored_as(oldest.seq);
  Status forgotten = query(Query::forget_last_published)
                         .with(oldest.id, seq, stored_as(Alert::State::resolved))
                         .run();
  return forgotten ? query(Query::drop).with(seq).run() : forgotten;
}

Result<PublishedAlerts> SqliteTables::alerts_after(std::uint64_t after, std::size_t limit) {
  // SQLite's integers are signed; no alert has a number that they cannot hold.
  if (after > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return PublishedAlerts{};
  }
  return alerts_of(query(Query::alerts_after).with(stored_as(after), stored_as(limit)));
}

Result<PublishedAlerts> SqliteTables::firing(std::size_t limit) {
  return alerts_of(query(Query::firing).with(stored_as(Alert::State::firing), stored_as(limit)));
}

Result<PublishedAlerts> SqliteTables::latest(const std::string& id) {
  return alerts_of(query(Query::latest).with(id));
}

Result<PublishedAlerts> SqliteTables::alerts_of(SqliteStatement& row) {
  PublishedAlerts found;
  while (true) {
    const Result<bool> more = row.next();
    if (!more) return more.error();
    if (!*more) return found;
    if (row.number(7) != 1) return wrong_checksum(row, "alert number " + row.text(0));
    found.push_back(std::make_shared<const PublishedAlert>(PublishedAlert{
        unsigned_number(row, 0), row.text(1), row.text(2), static_cast<Severity>(row.number(3)),
        static_cast<Alert::State>(row.number(4)), row.text(5), row.number(6) != 0}));
  }
}

Result<Acknowledged> SqliteTables::acknowledged() {
  Acknowledged found;
  SqliteStatement& row = query(Query::all_subscribers).with();
  while (true) {
    const Result<bool> more = row.next();
    if (!more) return more.error();
    if (!*more) return found;
    found[row.text(0)] = unsigned_number(row, 1);
  }
}

Status SqliteTables::acknowledge(const std::string& name, std::uint64_t seq, Time seen) {
  return query(Query::put_subscriber).with(name, stored_as(seq), to_ns(seen)).run();
}

Status SqliteTables::forget_subscriber(const std::string& name) {
  return query(Query::forget_subscriber).with(name).run();
}

Result<Notes> SqliteTables::notes() {
  Notes found;
  SqliteStatement& row = query(Query::all_notes).with();
  while (true) {
    const Result<bool> more = row.next();
    if (!more) return more.error();
    if (!*more) return found;
    found[row.text(0)] = row.text(1);
  }
}

Status SqliteTables::put_note(const std::string& key, const std::string& value) {
  return query(Query::put_note).with(key, Blob{value}).run();
}

Status SqliteTables::erase_note(const std::string& key) {
  return query(Query::erase_note).with(key).run();
}

Result<std::string> SqliteTables::drop_oldest_subscriber() {
  SqliteStatement& row = query(Query::drop_subscriber).with();
  const Result<bool> found = row.next();
  if (!found) return found.error();
  std::string name = *found ? row.text(0) : std::string();
  row.reset();
  return name;
}

}  // namespace trainwatch
