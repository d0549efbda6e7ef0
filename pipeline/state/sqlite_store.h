// SPDX-License-Identifier: Apache-2.0
// The store on disk: DIR/state.db, an SQLite database owned by one process. Once commit() has
// returned, neither a kill nor a power loss undoes it.
//
// Disk errors: a failed commit leaves nothing behind. On a full disk it can simply be retried.
// After any other error the connection is closed, everything appended since the last commit is
// truncated, and the next commit() opens and checks the database again; bytes whose fsync failed
// are never synced again. Until then load() and alerts_after() return errors.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pipeline/state/state_directory.h"
#include "pipeline/state/state_store.h"

namespace trainwatch {

class SqliteTables;
struct SqliteOpening;

struct SqliteStoreOptions {
  std::string directory;
  std::string new_epoch;  // used when a store is created
  std::string writer;     // version text, for people who inspect the file
  Retention retention{};
  // Network file systems are refused unless this is set. It selects a rollback journal, which is
  // slower but needs no memory shared between hosts.
  bool allow_network = false;
  int checkpoint_pages = 1000;  // log length from which tidy() copies it into the database
  std::string vfs{};            // SQLite's name for another file system; for tests
};

class SqliteStore final : public StateStore {
 public:
  // A damaged store is set aside as state.db.corrupt-N, and a new one is created. Damage that
  // concerns only kept alerts or subscribers is repaired.
  static std::variant<std::unique_ptr<SqliteStore>, OpenFailure> open(SqliteStoreOptions options);
  ~SqliteStore() override;

  // What open() set aside and why, for the log; empty if nothing.
  const std::string& lost() const { return lost_; }
  // What open() repaired, for the log; empty if nothing.
  const std::string& repaired() const { return repaired_; }
  const std::vector<std::string>& notes() const { return directory_.notes(); }
  // The database was removed or replaced, or found after an error to be damaged, or to contain a
  // failed commit (which a rollback journal cannot exclude). Every commit fails from now on; open()
  // again.
  bool broken() const override { return broken_; }

  const std::string& epoch() const override { return epoch_; }
  Result<std::vector<StateRow>> load() override;
  // Retention drops at most 1000 alerts more than a commit adds, which keeps commits short.
  Result<PublishedAlerts> commit(const Commit& commit) override;
  // Copies a log that has become long into the database, which takes several syncs. The last commit
  // is safe in the log either way, so a failure is left to the next one.
  void tidy() override;
  Result<PublishedAlerts> alerts_after(std::uint64_t after, std::size_t limit) override;
  Result<PublishedAlerts> firing(std::size_t limit) override;
  Result<PublishedAlerts> latest(const std::string& id) override;
  std::uint64_t first_seq() const override { return numbers_.first; }
  std::uint64_t last_seq() const override { return numbers_.last; }
  const Acknowledged& acknowledged() const override { return numbers_.acknowledged; }
  Result<Notes> load_notes() override;
  std::uint64_t subscribers_forgotten() const override { return numbers_.subscribers_forgotten; }

 private:
  // Known without reading the database. The alerts kept are exactly first to last.
  struct Numbers {
    std::uint64_t first = 1;
    std::uint64_t last = 0;
    std::uint64_t commits = 0;  // distinguishes two states of the disk
    std::size_t batched = 0;    // bytes of the rows in batches
    Acknowledged acknowledged;
    std::uint64_t subscribers_forgotten = 0;  // since open()
  };
  struct Written {
    Numbers numbers;
    PublishedAlerts published;
  };

  SqliteStore(SqliteStoreOptions options, StateDirectory directory);
  SqliteOpening opening(std::string new_epoch) const;
  std::optional<OpenFailure> open_or_begin();
  Status reopen();
  Status make_usable();
  Status read_numbers();
  Error give_up(const Error& error);
  Error closed() const;

  Result<Written> write(const Commit& commit);
  static Status write_rows(const Commit& commit, StateRowWriter& writer);
  Status write_cursors(const Commit& commit, Written& written);
  Status write_notes(const Commit& commit);
  Status publish(Alert alert, Time now, Written& written);
  Status write_numbers(Written& written);
  Status prune(Time now, Written& written);

  SqliteStoreOptions options_;
  StateDirectory directory_;
  std::unique_ptr<SqliteTables> tables_;  // null after a disk error
  std::string epoch_;
  std::string lost_;
  std::string repaired_;
  Numbers numbers_;
  std::string why_closed_;
  int sound_log_pages_ = 0;  // of the log, while there is no connection
  bool broken_ = false;
};

}  // namespace trainwatch
