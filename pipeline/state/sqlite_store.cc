// SPDX-License-Identifier: Apache-2.0
#include "pipeline/state/sqlite_store.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "pipeline/engine/alert_json.h"
#include "pipeline/state/sqlite_files.h"
#include "pipeline/state/sqlite_open.h"
#include "pipeline/state/sqlite_repair.h"
#include "pipeline/state/sqlite_transaction.h"

namespace trainwatch {
namespace {

constexpr std::size_t kPrunedAtOnce = 1000;
constexpr std::uint64_t kMostSigned = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::variant<std::unique_ptr<SqliteStore>, OpenFailure> SqliteStore::open(
    SqliteStoreOptions options) {
  auto claimed = StateDirectory::claim(options.directory, options.allow_network);
  if (auto* failure = std::get_if<OpenFailure>(&claimed)) return std::move(*failure);
  std::unique_ptr<SqliteStore> store(
      new SqliteStore(std::move(options), std::get<StateDirectory>(std::move(claimed))));
  if (auto failure = store->open_or_begin()) return std::move(*failure);
  return store;
}

SqliteStore::SqliteStore(SqliteStoreOptions options, StateDirectory directory)
    : options_(std::move(options)), directory_(std::move(directory)) {}

SqliteStore::~SqliteStore() = default;

SqliteOpening SqliteStore::opening(std::string new_epoch) const {
  return {directory_.database(), std::move(new_epoch), options_.writer, options_.vfs,
          options_.allow_network};
}

std::optional<OpenFailure> SqliteStore::open_or_begin() {
  const auto unusable = [](const Error& error) {
    return OpenFailure{OpenFailure::Why::unusable, error.message};
  };
  const auto open = [this]() -> OpenedTables {
    if (options_.vfs.empty()) {
      if (const Status made = directory_.make_database_file(); !made) {
        return OpenFailure{OpenFailure::Why::unusable, made.error().message};
      }
    }
    return open_tables(opening(options_.new_epoch));
  };
  OpenedTables opened = open();
  if (const auto* damage = std::get_if<SqliteDamage>(&opened)) {
    const Result<std::string> aside = directory_.set_aside();
    if (!aside) return unusable({damage->what + "; " + aside.error().message});
    lost_ = "state was corrupt (" + damage->what + "); set aside as " + *aside + "; new epoch";
    opened = open();
  }
  if (const auto* damage = std::get_if<SqliteDamage>(&opened)) return unusable({damage->what});
  if (auto* failure = std::get_if<OpenFailure>(&opened)) return std::move(*failure);
  tables_ = std::get<std::unique_ptr<SqliteTables>>(std::move(opened));
  if (const Status usable = make_usable(); !usable) return unusable(usable.error());
  return std::nullopt;
}

// After opening.
Status SqliteStore::make_usable() {
  const Result<std::string> epoch = tables_->meta("epoch");
  if (!epoch) return epoch.error();
  const Result<Repaired> repaired = repair(*tables_, *epoch);
  if (!repaired) return repaired.error();
  repaired_ = repaired->text();
  return read_numbers();
}

Status SqliteStore::read_numbers() {
  const Result<std::string> epoch = tables_->meta("epoch");
  if (!epoch) return epoch.error();
  const Result<std::string> last = tables_->meta("last_seq");
  if (!last) return last.error();
  const Result<std::string> commits = tables_->meta("commits");
  if (!commits) return commits.error();
  const Result<std::optional<SqliteTables::Kept>> oldest = tables_->oldest();
  if (!oldest) return oldest.error();
  Result<Acknowledged> acknowledged = tables_->acknowledged();
  if (!acknowledged) return acknowledged.error();
  const Result<std::size_t> batched = tables_->batched_bytes();
  if (!batched) return batched.error();
  epoch_ = *epoch;
  numbers_.last = std::stoull(*last);
  numbers_.commits = std::stoull(*commits);
  numbers_.first = oldest->has_value() ? (*oldest)->seq : numbers_.last + 1;
  numbers_.acknowledged = std::move(*acknowledged);
  numbers_.batched = *batched;
  return success();
}

Error SqliteStore::closed() const {
  return Error{"state store " + directory_.database() + " is closed: " + why_closed_};
}

// Returns `error`, and closes the connection if it can no longer be trusted.
Error SqliteStore::give_up(const Error& error) {
  const std::string message = directory_.database() + ": " + error.message;
  SqliteDatabase& database = tables_->database();
  if (database.trouble() == SqliteTrouble::no_room) {
    (void)database.run("ROLLBACK");  // fails if SQLite has done it already
    return Error{message};
  }
  why_closed_ = error.message;
  sound_log_pages_ = database.log_pages();
  database.log_goes_on_close(false);
  tables_.reset();
  // Now, in case this process ends here; reopen() does it again if it fails.
  (void)cut_sqlite_log(directory_.database(), sound_log_pages_, options_.vfs);
  return Error{message};
}

// Continues after give_up(), if the disk holds what was committed.
Status SqliteStore::reopen() {
  const std::string path = directory_.database();
  if (Status cut = cut_sqlite_log(path, sound_log_pages_, options_.vfs); !cut) return cut;
  OpenedTables opened = open_tables(opening(""));
  if (const auto* failure = std::get_if<OpenFailure>(&opened)) return Error{failure->message};
  if (const auto* damage = std::get_if<SqliteDamage>(&opened)) {
    broken_ = true;
    why_closed_ = damage->what;
    return closed();
  }
  tables_ = std::get<std::unique_ptr<SqliteTables>>(std::move(opened));
  const std::string epoch = epoch_;
  const std::uint64_t commits = numbers_.commits;
  if (const Status usable = make_usable(); !usable) return give_up(usable.error());
  if (epoch_ == epoch && numbers_.commits == commits) return success();
  broken_ = true;
  why_closed_ = "it is not as the last commit left it";
  tables_.reset();
  return closed();
}

Result<std::vector<StateRow>> SqliteStore::load() {
  if (tables_ == nullptr) return closed();
  Result<std::vector<StateRow>> rows = tables_->rows();
  if (!rows) return give_up(rows.error());
  return rows;
}

Result<PublishedAlerts> SqliteStore::alerts_after(std::uint64_t after, std::size_t limit) {
  if (tables_ == nullptr) return closed();
  Result<PublishedAlerts> found =
      tables_->alerts_after(std::min(after, kMostSigned), std::min(limit, kMostSigned));
  if (!found) return give_up(found.error());
  return found;
}

Result<PublishedAlerts> SqliteStore::firing(std::size_t limit) {
  if (tables_ == nullptr) return closed();
  Result<PublishedAlerts> found = tables_->firing(std::min(limit, kMostSigned));
  if (!found) return give_up(found.error());
  return found;
}

Result<PublishedAlerts> SqliteStore::latest(const std::string& id) {
  if (tables_ == nullptr) return closed();
  Result<PublishedAlerts> found = tables_->latest(id);
  if (!found) return give_up(found.error());
  return found;
}

Result<Notes> SqliteStore::load_notes() {
  if (tables_ == nullptr) return closed();
  Result<Notes> found = tables_->notes();
  if (!found) return give_up(found.error());
  return found;
}

Result<PublishedAlerts> SqliteStore::commit(const Commit& commit) {
  if (broken_) return closed();
  if (tables_ == nullptr) {
    if (const Status open = reopen(); !open) return open.error();
  }
  if (tables_->database().has_moved()) {
    broken_ = true;
    why_closed_ = "it was removed or replaced while it was in use";
    tables_->database().log_goes_on_close(false);  // by now it may belong to another database
    tables_.reset();
    return closed();
  }
  Result<Written> written = write(commit);
  if (!written) return give_up(written.error());
  numbers_ = std::move(written->numbers);
  return std::move(written->published);
}

Result<SqliteStore::Written> SqliteStore::write(const Commit& commit) {
  Written written{numbers_, {}};
  SqliteTransaction transaction(*tables_, numbers_.batched, numbers_.commits + 1);
  if (!commit.alerts.empty()) transaction.prefer_batch();
  const bool may_be_empty = commit.write_rows && commit.alerts.empty() &&
                            commit.acknowledged.empty() && commit.notes.empty() &&
                            commit.forgotten.empty();
  if (!may_be_empty) {
    if (Status begun = transaction.begin(); !begun) return begun.error();
  }
  if (Status done = write_rows(commit, transaction); !done) return done.error();
  if (!transaction.begun()) return written;
  if (Status done = write_cursors(commit, written); !done) return done.error();
  if (Status done = write_notes(commit); !done) return done.error();
  for (const Alert& alert : commit.alerts) {
    if (Status done = publish(alert, commit.now, written); !done) return done.error();
  }
  if (Status done = prune(commit.now, written); !done) return done.error();
  if (Status done = write_numbers(written); !done) return done.error();
  if (Status done = transaction.commit(); !done) return done.error();
  written.numbers.batched = transaction.batched();
  return written;
}

Status SqliteStore::write_rows(const Commit& commit, StateRowWriter& writer) {
  for (const StateRow& row : commit.changed) {
    if (Status done = writer.put(row.key, row.value); !done) return done;
  }
  for (const std::string& key : commit.removed) {
    if (Status done = writer.erase(key); !done) return done;
  }
  return commit.write_rows ? commit.write_rows(writer) : success();
}

Status SqliteStore::write_cursors(const Commit& commit, Written& written) {
  for (const auto& [name, seq] : commit.acknowledged) {
    if (Status done = tables_->acknowledge(name, seq, commit.now); !done) return done;
    written.numbers.acknowledged[name] = seq;
  }
  for (const std::string& name : commit.forgotten) {
    if (Status done = tables_->forget_subscriber(name); !done) return done;
    written.numbers.acknowledged.erase(name);
  }
  while (subscribers(written.numbers.acknowledged) > kMostSubscribers) {
    const Result<std::string> forgotten = tables_->drop_oldest_subscriber();
    if (!forgotten) return forgotten.error();
    written.numbers.acknowledged.erase(*forgotten);
    ++written.numbers.subscribers_forgotten;
  }
  return success();
}

Status SqliteStore::write_notes(const Commit& commit) {
  for (const auto& [key, value] : commit.notes) {
    if (Status done = value.empty() ? tables_->erase_note(key) : tables_->put_note(key, value);
        !done) {
      return done;
    }
  }
  return success();
}

Status SqliteStore::write_numbers(Written& written) {
  const std::string commits = std::to_string(++written.numbers.commits);
  if (Status done = tables_->put_meta("commits", commits); !done) return done;
  if (written.published.empty()) return success();
  return tables_->put_meta("last_seq", std::to_string(written.numbers.last));
}

Status SqliteStore::publish(Alert alert, Time now, Written& written) {
  std::string json = to_json(alert);
  std::string content = content_hash(json);
  const Result<std::optional<LastPublished>> known = tables_->last_published(alert.id);
  if (!known) return known.error();
  if (known->has_value() && !is_news(**known, alert, content)) return success();
  alert.seq = ++written.numbers.last;
  const LastPublished last_published{alert.state, alert.updated_at, std::move(content), alert.seq};
  if (Status done = tables_->put_last_published(alert.id, last_published); !done) return done;
  written.published.push_back(std::make_shared<const PublishedAlert>(
      trainwatch::published(alert, std::move(json), epoch_)));
  return tables_->add(*written.published.back(), now);
}

Status SqliteStore::prune(Time now, Written& written) {
  Numbers& numbers = written.numbers;
  std::uint64_t wanted = numbers.last + 1;  // the oldest that a subscriber has not acknowledged
  for (const auto& [name, seq] : numbers.acknowledged) wanted = std::min(wanted, seq + 1);
  const std::size_t most = kPrunedAtOnce + written.published.size();
  for (std::size_t n = 0; n < most && numbers.first <= numbers.last; ++n) {
    const Result<std::optional<SqliteTables::Kept>> oldest = tables_->oldest();
    if (!oldest) return oldest.error();
    if (!oldest->has_value()) break;
    const std::uint64_t kept = numbers.last - numbers.first + 1;
    const Retention& retention = options_.retention;
    const bool over = kept > retention.alerts || now - (*oldest)->stored > retention.age;
    const bool held = (*oldest)->seq >= wanted && kept <= 2 * retention.alerts;
    if (!over || held) break;
    if (Status done = tables_->drop(**oldest); !done) return done;
    numbers.first = (*oldest)->seq + 1;
  }
  return success();
}

void SqliteStore::tidy() {
  if (tables_ == nullptr) return;
  SqliteDatabase& database = tables_->database();
  if (database.log_pages() < options_.checkpoint_pages) return;
  if (const Status done = database.checkpoint(); !done) (void)give_up(done.error());
}

}  // namespace trainwatch
