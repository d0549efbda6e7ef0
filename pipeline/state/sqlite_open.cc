// SPDX-License-Identifier: Apache-2.0
#include "pipeline/state/sqlite_open.h"

#include <bit>
#include <optional>
#include <utility>

#include "pipeline/state/sqlite_files.h"
#include "pipeline/state/sqlite_schema.h"

namespace trainwatch {
namespace {

using Why = OpenFailure::Why;

// The connection is the only one, so the index of the log is in memory, not in a shared file. Pages
// are checked as they are read, and a schema cannot call functions. Deleted rows need not be
// overwritten: the directory is private.
constexpr const char* kPragmas = R"(
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA synchronous = FULL;
PRAGMA trusted_schema = OFF;
PRAGMA mmap_size = 0;
PRAGMA cell_size_check = ON;
PRAGMA secure_delete = OFF;
PRAGMA journal_size_limit = 16777216;
)";

constexpr const char* kListTables =
    "SELECT group_concat(name) FROM "
    "(SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name)";
constexpr std::string_view kTableList = "batch,meta,note,outbox,state,subscriber,told";

// The problem with the application id or version, if any. One wrong bit of the id, and a number
// that no version has, are damage: nobody else's file looks like that.
std::optional<OpenedTables> judge_identity(const std::string& path, std::uint32_t application,
                                           std::uint32_t version) {
  if (std::has_single_bit(application ^ kApplicationId)) {
    return SqliteDamage{path + ": its application id is " + std::to_string(application)};
  }
  if (application != kApplicationId) {
    return OpenFailure{Why::not_ours, path +
                                          " is a database of something else; move it away, or use "
                                          "another directory"};
  }
  if (version < kFirstSchemaVersion || version > kLargestSchemaVersion) {
    return SqliteDamage{path + ": there is no version " + std::to_string(version)};
  }
  if (version > kSchemaVersion) {
    return OpenFailure{Why::newer, path + " was written by a later version (" +
                                       std::to_string(version) + ", this one knows up to " +
                                       std::to_string(kSchemaVersion) +
                                       "); run that version, or use another directory"};
  }
  return std::nullopt;
}

// Refuses a foreign or newer file before SQLite could even move its log. SQLite would treat a
// fragment as an empty file.
std::optional<OpenedTables> judge_file(const SqliteOpening& opening) {
  const Result<SqliteHead> head = read_sqlite_head(opening.path, opening.vfs);
  if (!head) return OpenFailure{Why::unusable, head.error().message};
  if (head->is_fragment) return SqliteDamage{opening.path + ": is no database"};
  if (!head->is_database) return std::nullopt;
  auto problem = judge_identity(opening.path, head->application, head->version);
  if (!problem && !head->is_writable) problem = SqliteDamage{opening.path + ": unknown format"};
  return problem;
}

// The steps; each returns true on success and otherwise sets the problem.
class Steps {
 public:
  Steps(const SqliteOpening& opening, SqliteDatabase database)
      : opening_(opening), database_(std::move(database)) {}

  OpenedTables take() {
    if (good(database_.run(kPragmas)) && good(add_row_checksum(database_)) && identify() &&
        sound() && set_journal() && prepare() && undamaged() && sign() &&
        good(tables_->database().checkpoint())) {
      return std::move(tables_);
    }
    if (problem_.index() == 0) return std::get<SqliteDamage>(std::move(problem_));
    return std::get<OpenFailure>(std::move(problem_));
  }

 private:
  bool damage(std::string what) {
    problem_ = SqliteDamage{opening_.path + ": " + std::move(what)};
    return false;
  }
  bool failure(OpenFailure failure) {
    problem_ = std::move(failure);
    return false;
  }
  bool good(const Status& done) { return done.ok() || bad(done.error()); }

  // Of the last call to the database.
  bool bad(const Error& error) {
    SqliteDatabase& database = tables_ == nullptr ? database_ : tables_->database();
    switch (database.trouble()) {
      case SqliteTrouble::damaged:
        return damage(error.message);
      case SqliteTrouble::busy:
        return failure({Why::in_use, opening_.path + " is in use by another program; stop it"});
      case SqliteTrouble::no_room:
      case SqliteTrouble::io:
        break;
    }
    return failure({Why::unusable, opening_.path + ": " + error.message});
  }

  bool number_of(const char* pragma, std::uint32_t& number) {
    const Result<std::string> text = database_.ask(pragma);
    if (!text) return bad(text.error());
    number = static_cast<std::uint32_t>(std::stoll(*text));
    return true;
  }

  bool identify() {
    std::uint32_t pages = 0;
    std::uint32_t application = 0;
    std::uint32_t version = 0;
    if (!number_of("PRAGMA page_count", pages)) return false;
    if (pages == 0 && opening_.new_epoch.empty()) return damage("is empty");
    if (pages == 0) return good(create_schema(database_));
    if (!number_of("PRAGMA application_id", application)) return false;
    if (!number_of("PRAGMA user_version", version)) return false;
    if (auto refused = judge_identity(opening_.path, application, version)) {
      if (auto* other = std::get_if<OpenFailure>(&*refused)) return failure(std::move(*other));
      problem_ = std::get<SqliteDamage>(std::move(*refused));
      return false;
    }
    return version == kSchemaVersion || step_forward(version);
  }

  bool step_forward(std::uint32_t version) {
    const auto failed = migrate(database_, opening_.path, version, kSchemaVersion, migrations());
    if (!failed) return true;
    if (failed->why == SqliteTrouble::damaged) return damage(failed->message);
    return failure({Why::unusable, opening_.path + ": " + failed->message});
  }

  bool sound() {
    database_.log_goes_on_close(true);  // from here on it is our store
    const Result<std::string> pages = database_.ask("PRAGMA quick_check(1)");
    if (!pages) return bad(pages.error());
    // A disk that cannot be read now is no reason to set anything aside: the file may be intact.
    if (database_.is_read_error(*pages))
      return failure({Why::unusable, opening_.path + ": " + *pages});
    if (*pages != "ok") return damage(*pages);
    const Result<std::string> tables = database_.ask(kListTables);
    if (!tables) return bad(tables.error());
    return *tables == kTableList || damage("has the tables " + *tables);
  }

  bool set_journal() {
    const std::string wanted = opening_.rollback_journal ? "delete" : "wal";
    const Result<std::string> mode = database_.ask("PRAGMA journal_mode = " + wanted);
    if (!mode) return bad(mode.error());
    return *mode == wanted ||
           failure({Why::unusable, opening_.path + ": its journal stays in mode " + *mode});
  }

  bool prepare() {
    Result<std::unique_ptr<SqliteTables>> tables = SqliteTables::prepare(database_);
    if (!tables) return bad(tables.error());
    tables_ = std::move(*tables);
    return true;
  }

  bool undamaged() {
    const Result<std::string> damaged = tables_->damage();
    if (!damaged) return bad(damaged.error());
    return damaged->empty() || damage(*damaged);
  }

  // A new store gets its epoch, and every store the name of its current writer.
  bool sign() {
    const Result<std::string> epoch = tables_->meta("epoch");
    if (!epoch) return bad(epoch.error());
    const Result<std::string> writer = tables_->meta("writer");
    if (!writer) return bad(writer.error());
    if (!epoch->empty() && *writer == opening_.writer) return true;
    if (!good(tables_->begin())) return false;
    if (epoch->empty() &&
        !(good(tables_->put_meta("epoch", opening_.new_epoch)) &&
          good(tables_->put_meta("last_seq", "0")) && good(tables_->put_meta("commits", "0")))) {
      return false;
    }
    if (!good(tables_->put_meta("writer", opening_.writer))) return false;
    return good(tables_->commit());
  }

  const SqliteOpening& opening_;
  SqliteDatabase database_;               // until prepare()
  std::unique_ptr<SqliteTables> tables_;  // from then on
  std::variant<SqliteDamage, OpenFailure> problem_;
};

}  // namespace

OpenedTables open_tables(const SqliteOpening& opening) {
  if (auto judged = judge_file(opening)) return std::move(*judged);
  Result<SqliteDatabase> database = SqliteDatabase::open(opening.path, opening.vfs);
  if (!database) {
    return OpenFailure{Why::unusable, opening.path + ": " + database.error().message +
                                          "; it must be a file that this user may write"};
  }
  return Steps(opening, std::move(*database)).take();
}

}  // namespace trainwatch
