// SPDX-License-Identifier: Apache-2.0
// What only a store on disk does: it is there again after a restart, it is alone, and it gets over
// trouble with the disk.
#include "pipeline/state/sqlite_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "pipeline/state/sqlite_schema.h"
#include "pipeline/state/sqlite_tables.h"
#include "pipeline/tail/posix_file_system.h"
#include "support/crash_vfs.h"
#include "support/open_store.h"
#include "support/state_commits.h"
#include "support/temp_directory.h"

namespace trainwatch::sqlite_store_test {

using test::commit_of;
using test::CrashVfs;
using test::firing;
using test::open_store;
using test::refusal;
using test::resolved;
using test::store_options;
using testing::HasSubstr;
using Why = OpenFailure::Why;

Commit everything() {
  return {{}, {{"k", "v"}}, {}, {firing("a"), firing("b")}, {{"pager", 1}}};
}

TEST(SqliteStore, IsTheSameAfterARestart) {
  const test::TempDirectory directory;
  const auto options = store_options(directory.path());
  std::string json;
  {
    const auto store = open_store(options);
    json = store->commit(everything())->at(1)->json;
  }
  const auto store = open_store(store_options(directory.path(), "epoch-2"));
  EXPECT_EQ(store->epoch(), "epoch-1");
  EXPECT_EQ(store->lost(), "");
  EXPECT_EQ(store->load()->at(0).value, "v");
  EXPECT_EQ(store->first_seq(), 1U);
  EXPECT_EQ(store->last_seq(), 2U);
  EXPECT_EQ(store->acknowledged().at("pager"), 1U);
  EXPECT_EQ(store->alerts_after(1, 9)->at(0)->json, json);
  EXPECT_TRUE(store->commit(commit_of({firing("a")}))->empty());
  EXPECT_EQ(store->commit(commit_of({firing("c")}))->at(0)->seq, 3U);
}

TEST(SqliteStore, NumbersOnWhenAllAlertsAreGone) {
  const test::TempDirectory directory;
  const auto options = store_options(directory.path());
  {
    const auto store = open_store(options);
    ASSERT_TRUE(store->commit(commit_of({firing("a"), firing("b")})).ok());
    ASSERT_TRUE(store->commit(commit_of({}, test::at_second(31 * 24 * 3600))).ok());
    EXPECT_TRUE(store->alerts_after(0, 9)->empty());
  }
  const auto store = open_store(options);
  EXPECT_EQ(store->first_seq(), 3U);
  EXPECT_EQ(store->commit(commit_of({resolved("z", 1)}))->at(0)->seq, 3U);
}

TEST(SqliteStore, IsPrivateAndLeavesNoLogAfterACleanEnd) {
  const test::TempDirectory directory;
  const std::string path = directory / "deep/state";
  const auto mode = [](const std::string& file) {
    struct stat status {};
    EXPECT_EQ(::stat(file.c_str(), &status), 0) << file;
    return status.st_mode & 0777U;
  };
  {
    const auto store = open_store(store_options(path));
    ASSERT_TRUE(store->commit(everything()).ok());
    EXPECT_EQ(mode(path), 0700U);
    EXPECT_EQ(mode(path + "/state.db"), 0600U);
    EXPECT_EQ(mode(path + "/state.db-wal"), 0600U);
    EXPECT_FALSE(std::filesystem::exists(path + "/state.db-shm"));
  }
  EXPECT_FALSE(std::filesystem::exists(path + "/state.db-wal"));
}

TEST(SqliteStore, IsOpenOnce) {
  const test::TempDirectory directory;
  const auto options = store_options(directory.path());
  auto store = open_store(options);
  const OpenFailure failure = refusal(options);
  EXPECT_EQ(failure.why, Why::in_use);
  EXPECT_THAT(failure.message, HasSubstr(directory.path()));
  store.reset();
  EXPECT_NE(open_store(options), nullptr);
}

TEST(SqliteStore, IsInUseWhileAnotherProgramWritesIt) {
  const test::TempDirectory directory;
  const auto options = store_options(directory.path());
  open_store(options);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((directory / "state.db").c_str(), &other), SQLITE_OK);
  sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
  EXPECT_EQ(refusal(options).why, Why::in_use);
  sqlite3_close(other);
}

TEST(SqliteStore, WorksWithARollbackJournalWhereTheFileSystemMayBeRemote) {
  const test::TempDirectory directory;
  auto options = store_options(directory.path());
  options.allow_network = true;
  ASSERT_TRUE(open_store(options)->commit(everything()).ok());
  EXPECT_FALSE(std::filesystem::exists(directory / "state.db-wal"));
  EXPECT_EQ(open_store(options)->last_seq(), 2U);
  options.allow_network = false;
  EXPECT_EQ(open_store(options)->last_seq(), 2U);
}

TEST(SqliteStore, IsBrokenWhenItsFileIsRemovedOrReplaced) {
  for (const bool replaced : {false, true}) {
    const test::TempDirectory directory;
    const auto options = store_options(directory / "state");
    const auto store = open_store(options);
    ASSERT_TRUE(store->commit(everything()).ok());
    std::filesystem::rename(directory / "state", directory / "moved");
    if (replaced) {
      std::filesystem::copy(directory / "moved", directory / "state");
      ASSERT_TRUE(std::filesystem::exists(directory / "state/state.db-wal"));
    }
    const auto failed = store->commit(commit_of({firing("c")}));
    ASSERT_FALSE(failed.ok());
    EXPECT_THAT(failed.error().message, HasSubstr("removed or replaced"));
    EXPECT_TRUE(store->broken());
    EXPECT_FALSE(store->commit(commit_of({firing("c")})).ok());
    EXPECT_EQ(open_store(options)->last_seq(), replaced ? 2U : 0U);
  }
}

TEST(SqliteStore, KnowsNetworkFileSystems) {
  EXPECT_EQ(network_file_system(0x6969), "NFS");
  EXPECT_EQ(network_file_system(0x65735546), "FUSE");
  EXPECT_EQ(network_file_system(0x0bd00bd0), "Lustre");
  EXPECT_EQ(network_file_system(0xff534d42), "CIFS");
  EXPECT_EQ(network_file_system(0xef53), "");      // ext4
  EXPECT_EQ(network_file_system(0x58465342), "");  // xfs
  EXPECT_EQ(network_file_system(0x01021994), "");  // tmpfs
}

// A store whose n-th operation of one kind fails with one error.
class SqliteStoreOnABadDisk : public testing::Test {
 protected:
  SqliteStoreOnABadDisk() {
    auto options = store_options(directory_.path());
    options.vfs = vfs_.name();
    store_ = open_store(options);
    EXPECT_TRUE(store_->commit(everything()).ok());
  }
  void fail(CrashVfs::Op kind, int code) {
    vfs_.set_fault([kind, code](CrashVfs::Op op, const std::string&) {
      return op == kind ? code : SQLITE_OK;
    });
  }
  void repair() { vfs_.set_fault(nullptr); }
  Result<PublishedAlerts> commit_c() { return store_->commit(commit_of({firing("c")})); }

  test::TempDirectory directory_;
  CrashVfs vfs_{"bad-disk", 1};
  std::unique_ptr<SqliteStore> store_;
};

TEST_F(SqliteStoreOnABadDisk, GoesOnWhenThereIsRoomAgain) {
  fail(CrashVfs::Op::write, SQLITE_FULL);
  const auto failed = commit_c();
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("full"));
  EXPECT_TRUE(store_->load().ok());  // the connection is still good
  repair();
  EXPECT_EQ(commit_c()->at(0)->seq, 3U);
}

TEST_F(SqliteStoreOnABadDisk, GoesOnWhenItIsWritableAgain) {
  fail(CrashVfs::Op::write, SQLITE_READONLY);
  ASSERT_FALSE(commit_c().ok());
  ASSERT_FALSE(commit_c().ok());
  EXPECT_FALSE(store_->broken());
  repair();
  EXPECT_EQ(commit_c()->at(0)->seq, 3U);
}

TEST_F(SqliteStoreOnABadDisk, NeverSyncsAgainOnTheSameHandle) {
  int syncs = 0;
  vfs_.set_fault([&syncs](CrashVfs::Op op, const std::string&) {
    if (op != CrashVfs::Op::sync) return SQLITE_OK;
    ++syncs;
    return SQLITE_IOERR_FSYNC;
  });
  ASSERT_FALSE(commit_c().ok());
  EXPECT_EQ(syncs, 1);
  EXPECT_FALSE(store_->load().ok());
  EXPECT_FALSE(store_->alerts_after(0, 1).ok());
  EXPECT_EQ(store_->last_seq(), 2U);
  repair();
  EXPECT_EQ(commit_c()->at(0)->seq, 3U);
  EXPECT_EQ(store_->alerts_after(0, 9)->size(), 3U);
  EXPECT_FALSE(store_->broken());
}

TEST_F(SqliteStoreOnABadDisk, IsBrokenWhenItIsDamagedAfterAnError) {
  fail(CrashVfs::Op::sync, SQLITE_IOERR_FSYNC);
  ASSERT_FALSE(commit_c().ok());
  repair();
  // The log goes and with it what was committed.
  vfs_.disk().remove(directory_ / "state.db-wal");
  ASSERT_FALSE(commit_c().ok());
  EXPECT_TRUE(store_->broken());
  EXPECT_FALSE(commit_c().ok());
}

TEST(Migration, StepsForwardAfterACopy) {
  const test::TempDirectory directory;
  const std::string path = directory / "state.db";
  auto database = SqliteDatabase::open(path, "");
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(database->run("CREATE TABLE old(a); INSERT INTO old VALUES(7)").ok());
  const std::vector<Migration> steps{{0, "ALTER TABLE old RENAME TO newer"},
                                     {1, "ALTER TABLE newer ADD COLUMN b"}};
  ASSERT_FALSE(migrate(*database, path, 0, 2, steps));
  EXPECT_EQ(*database->ask("SELECT a FROM newer WHERE b IS NULL"), "7");
  EXPECT_EQ(*database->ask("PRAGMA user_version"), "2");
  auto backup = SqliteDatabase::open(path + ".v0.bak", "");
  EXPECT_EQ(*backup->ask("SELECT a FROM old"), "7");
}

TEST(Migration, LeavesAllAsItWasWhenAStepFails) {
  const test::TempDirectory directory;
  const std::string path = directory / "state.db";
  auto database = SqliteDatabase::open(path, "");
  ASSERT_TRUE(database->run("CREATE TABLE old(a)").ok());
  const std::vector<Migration> steps{{0, "DROP TABLE old"}, {1, "DROP TABLE old"}};
  EXPECT_TRUE(migrate(*database, path, 0, 2, steps));
  EXPECT_EQ(migrate(*database, path, 0, 3, steps)->message, "no step from version 2");
  EXPECT_EQ(*database->ask("SELECT count(*) FROM old"), "0");
  EXPECT_EQ(*database->ask("PRAGMA user_version"), "0");
}

}  // namespace trainwatch::sqlite_store_test
