// SPDX-License-Identifier: Apache-2.0
// SqliteStore on a disk whose power fails at a random write, sync, truncation or deletion, over and
// over. What it opens with is compared with MemoryStore: either all that was committed, or that and
// the commit that was under way.
//   TRAINWATCH_POINTS=N  power losses (5000; TRAINWATCH_LONG=1: 100000)
//   TRAINWATCH_SEED=N    one run alone, as a failure names it
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "pipeline/state/sqlite_store.h"
#include "support/crash_vfs.h"
#include "support/memory_store.h"
#include "support/state_commits.h"
#include "support/temp_directory.h"

namespace trainwatch::power_loss_test {

constexpr Retention kRetention{12, std::chrono::seconds(300)};
constexpr std::uint64_t kPointsPerSeed = 50;

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// All that a client or the daemon can see of a store.
struct Seen {
  std::string epoch;
  std::map<std::string, std::string> rows;
  std::vector<std::string> alerts;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  Acknowledged acknowledged;
  Notes notes;
  bool operator==(const Seen&) const = default;
};

std::vector<std::string> lines(const PublishedAlerts& alerts) {
  std::vector<std::string> lines;
  for (const auto& alert : alerts) {
    lines.push_back(std::to_string(alert->seq) + ' ' + alert->id + ' ' + alert->json);
  }
  return lines;
}

Seen look(StateStore& store) {
  Seen seen{store.epoch(),      {}, {}, store.first_seq(), store.last_seq(), store.acknowledged(),
            *store.load_notes()};
  const auto rows = store.load();
  for (const StateRow& row : *rows) seen.rows[row.key] = row.value;
  seen.alerts = lines(*store.alerts_after(0, 1000));
  return seen;
}

// Commits of all sorts: rows of a few bytes and of many pages, new alerts, alerts published again
// and resolved, cursors; the time runs, so that alerts get old.
class Script {
 public:
  explicit Script(std::uint64_t seed) : random_(seed) {}

  Commit next() {
    Commit commit;
    second_ += static_cast<std::int64_t>(below(20));
    commit.now = test::at_second(second_);
    for (std::uint64_t n = below(4); n > 0; --n) {
      const std::size_t size = below(8) == 0 ? below(20'000) : below(600);
      commit.changed.push_back({row(), std::string(size, static_cast<char>('a' + below(26)))});
    }
    if (below(4) == 0) commit.removed.push_back(row());
    for (std::uint64_t n = below(3); n > 0; --n) commit.alerts.push_back(alert());
    if (below(5) == 0) commit.acknowledged["pager"] = below(100);
    if (below(5) == 0) commit.notes["note"] = std::string(below(3), 'n');
    if (below(20) == 0) commit.forgotten.push_back("pager");
    return commit;
  }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

 private:
  std::string row() { return "row/" + std::to_string(below(12)); }
  Alert alert() {
    const std::string id = "alert-" + std::to_string(below(40));
    return below(3) == 0 ? test::resolved(id, second_) : test::firing(id, second_);
  }

  std::mt19937_64 random_;
  std::int64_t second_ = 0;
};

// One disk from its first use on, through many losses of power.
class Job {
 public:
  Job(std::uint64_t seed, const std::string& directory)
      : script_(seed), vfs_("power-loss", seed), model_("epoch-1", kRetention) {
    options_ = {directory, "epoch-1", "test", kRetention};
    options_.checkpoint_pages = static_cast<int>(4 + script_.below(30));
    options_.allow_network = script_.below(4) == 0;  // the rollback journal
    options_.vfs = vfs_.name();
  }

  test::CrashVfs& vfs() { return vfs_; }
  std::uint64_t commits() const { return commits_; }
  std::uint64_t errors() const { return errors_; }

  void with_disk_errors() { disk_errors_ = true; }

  // Works until the power goes, then looks at what is left. Empty: as it should be.
  std::string lose_power_once() {
    vfs_.power_off_after(static_cast<int>(1 + script_.below(script_.below(4) == 0 ? 400 : 60)));
    if (std::string wrong = work_until_off(); !wrong.empty()) return wrong;
    store_.reset();
    vfs_.set_fault(nullptr);
    vfs_.power_on();
    if (std::string wrong = open(); !wrong.empty()) return wrong;
    return compare();
  }

 private:
  std::string work_until_off() {
    std::string failed;
    if (store_ == nullptr) failed = open();
    while (failed.empty() && !vfs_.is_off()) {
      if (script_.below(20) == 0) {
        failed = start_again();
      } else {
        if (disk_errors_ && script_.below(3) == 0) fail_an_operation();
        failed = commit_once();
      }
    }
    return vfs_.is_off() ? std::string() : failed;
  }

  // One operation of the next few fails.
  void fail_an_operation() {
    failed_ = false;
    vfs_.set_fault([this, left = script_.below(40), full = script_.below(3) == 0](
                       test::CrashVfs::Op op, const std::string&) mutable {
      if (failed_ || left-- > 0) return SQLITE_OK;
      if (full && op != test::CrashVfs::Op::write) return SQLITE_OK;
      failed_ = true;
      return full ? SQLITE_FULL : SQLITE_IOERR;
    });
  }

  std::string commit_once() {
    const Commit commit = script_.next();
    MemoryStore after = model_;
    const auto expected = after.commit(commit);
    const auto published = store_->commit(commit);
    if (!published.ok()) {
      under_way_.push_back(after);
      errors_ += vfs_.is_off() ? 0 : 1;
      if (store_->broken()) return options_.allow_network ? start_again() : "broken with a log";
      return std::exchange(failed_, false) ? std::string() : published.error().message;
    }
    if (lines(*published) != lines(*expected)) return "commit() returned other alerts";
    ++commits_;
    model_ = after;
    under_way_.clear();
    if (script_.below(4) != 0) store_->tidy();
    return {};
  }

  // Without a loss of power. Only a rollback journal leaves open whether a failed commit is there.
  std::string start_again() {
    if (!options_.allow_network) under_way_.clear();
    vfs_.set_fault(nullptr);
    store_.reset();
    std::string failed = open();
    return vfs_.is_off() || !failed.empty() ? failed : compare();
  }

  std::string open() {
    auto opened = SqliteStore::open(options_);
    if (const auto* failure = std::get_if<OpenFailure>(&opened)) return failure->message;
    store_ = std::get<std::unique_ptr<SqliteStore>>(std::move(opened));
    return store_->lost();
  }

  std::string compare() {
    const Seen seen = look(*store_);
    for (MemoryStore& failed : std::exchange(under_way_, {})) {
      if (seen != look(failed)) continue;
      model_ = failed;
      return {};
    }
    if (seen == look(model_)) return {};
    return "a state that no commit left: last_seq " + std::to_string(seen.last) + ", expected " +
           std::to_string(model_.last_seq());
  }

  Script script_;
  test::CrashVfs vfs_;
  SqliteStoreOptions options_;
  std::unique_ptr<SqliteStore> store_;
  MemoryStore model_;  // all that commit() returned for
  // With one of the commits that failed since: the power may go before their undoing is on the
  // disk.
  std::vector<MemoryStore> under_way_;
  std::uint64_t commits_ = 0;
  std::uint64_t errors_ = 0;  // of commits while the power was on
  bool disk_errors_ = false;
  bool failed_ = false;  // the operation that was to fail has
};

struct Figures {
  std::uint64_t points = 0;
  std::uint64_t commits = 0;
  std::uint64_t errors = 0;
};

void lose_power(std::uint64_t points, bool disk_errors, Figures& figures) {
  const test::TempDirectory directory;
  const std::uint64_t only = number_from_environment("TRAINWATCH_SEED", 0);
  for (std::uint64_t seed = only == 0 ? 1 : only; figures.points < points; ++seed) {
    Job job(seed, directory.path());
    if (disk_errors) job.with_disk_errors();
    for (std::uint64_t n = 0; n < kPointsPerSeed && figures.points < points; ++n) {
      const std::string wrong = job.lose_power_once();
      ASSERT_EQ(wrong, "") << "replay with TRAINWATCH_SEED=" << seed << ", power loss " << n;
      ++figures.points;
    }
    figures.commits += job.commits();
    figures.errors += job.errors();
    if (only != 0) return;
  }
}

std::uint64_t wanted_points() {
  const bool is_long = std::getenv("TRAINWATCH_LONG") != nullptr;
  return number_from_environment("TRAINWATCH_POINTS", is_long ? 100'000 : 5'000);
}

TEST(PowerLoss, LeavesSomeCommitAndNoneThatReturnedIsLost) {
  Figures figures;
  lose_power(wanted_points(), false, figures);
  std::cout << figures.points << " power losses, " << figures.commits << " commits\n";
}

TEST(PowerLoss, AfterErrorsOfTheDiskToo) {
  Figures figures;
  lose_power(wanted_points(), true, figures);
  std::cout << figures.points << " power losses, " << figures.commits << " commits, "
            << figures.errors << " failed for an error of the disk\n";
}

// The first page of the database may be torn then, and look like somebody else's.
TEST(PowerLoss, WhileTheStoreIsBeingMade) {
  const test::TempDirectory directory;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Job job(seed, directory.path());
    ASSERT_EQ(job.lose_power_once(), "") << "seed " << seed;
  }
}

// The harness can see a lost commit: with syncs that do nothing there must be some.
TEST(PowerLoss, IsNoticedWhenSyncsDoNothing) {
  const test::TempDirectory directory;
  std::uint64_t noticed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Job job(seed, directory.path());
    job.vfs().ignore_syncs();
    for (int n = 0; n < 10; ++n) {
      if (job.lose_power_once().empty()) continue;
      ++noticed;
      break;
    }
  }
  std::cout << noticed << " of 20 runs without syncs lost a commit\n";
  EXPECT_GE(noticed, 15U);
}

}  // namespace trainwatch::power_loss_test
