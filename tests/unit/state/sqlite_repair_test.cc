// SPDX-License-Identifier: Apache-2.0
// Damage that a store can do without: kept alerts, what was published of them, subscribers.
#include "pipeline/state/sqlite_repair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "pipeline/engine/alert_json.h"
#include "support/open_store.h"
#include "support/state_commits.h"
#include "support/temp_directory.h"

namespace trainwatch::sqlite_repair_test {

using test::firing;
using test::open_store;
using test::resolved;
using test::store_options;
using testing::HasSubstr;

class SqliteRepair : public testing::Test {
 protected:
  void SetUp() override {
    const auto store = open_store(store_options(directory_.path()));
    Commit rows;
    rows.changed.push_back({"rule/x", "state"});
    ASSERT_TRUE(store->commit(rows).ok());
    Commit commit = test::commit_of({firing("a"), firing("b"), firing("c")});
    commit.acknowledged = {{"pager", 2}, {"page", 1}};
    ASSERT_TRUE(store->commit(commit).ok());
  }
  void run_sql(const std::string& sql) const {
    sqlite3* database = nullptr;
    const std::string path = directory_ / "state.db";
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  std::unique_ptr<SqliteStore> reopened() const {
    auto store = open_store(store_options(directory_.path(), "epoch-2"));
    EXPECT_EQ(store->epoch(), "epoch-1") << store->lost();
    EXPECT_EQ(store->load()->size(), 1U);
    EXPECT_EQ(store->last_seq(), 3U);
    return store;
  }

  test::TempDirectory directory_;
};

TEST_F(SqliteRepair, HasNothingToDoInASoundStore) {
  EXPECT_EQ(reopened()->repaired(), "");
}

// Any column, also one that a client does not see in the body.
TEST_F(SqliteRepair, ADamagedAlertIsReplacedByOneThatSaysSo) {
  for (const char* change : {"body = 'no JSON'", "rule = 'other'", "severity = 7", "part = 1",
                             "body = x'ff00'", "stored = -1", "id = ''", "crc = 0"}) {
    SCOPED_TRACE(change);
    run_sql("UPDATE outbox SET " + std::string(change) + " WHERE seq = 2");
    {
      const auto store = reopened();
      EXPECT_EQ(store->repaired(), "1 kept alerts cannot be shown any more");
      const auto alerts = *store->alerts_after(0, 10);
      ASSERT_EQ(alerts.size(), 3U);
      EXPECT_EQ(alerts[0]->id, "a");
      EXPECT_EQ(alerts[1]->seq, 2U);
      EXPECT_EQ(alerts[1]->rule, "_self/state_damaged");
      EXPECT_THAT(alerts[1]->json, HasSubstr(R"("seq":2,"epoch":"epoch-1")"));
      EXPECT_EQ(alerts[2]->id, "c");
      EXPECT_EQ(store->firing(10)->size(), 2U);
    }
    EXPECT_EQ(reopened()->repaired(), "");
  }
}

TEST_F(SqliteRepair, AnAlertWithoutItsVersionMayBePublishedOnceMore) {
  run_sql("UPDATE told SET content = x'00' WHERE id = 'b'");
  const auto store = reopened();
  EXPECT_EQ(store->repaired(), "1 alerts may be published once more");
  EXPECT_EQ(store->commit(test::commit_of({firing("a"), firing("b")}))->size(), 1U);
}

TEST_F(SqliteRepair, ASubscriberWithoutItsPositionIsForgotten) {
  run_sql("UPDATE subscriber SET acked_seq = 9000000000000000000 WHERE name = 'pager'");
  const auto store = reopened();
  EXPECT_EQ(store->repaired(), "1 subscribers have lost their position");
  EXPECT_EQ(store->acknowledged().size(), 1U);
}

TEST_F(SqliteRepair, NotesAreKeptErasedAndForgottenIfDamaged) {
  Commit commit;
  commit.notes = {{"silence/a", "one"}, {"silence/b", "two"}, {"silence/c", "three"}};
  ASSERT_TRUE(reopened()->commit(commit));
  commit.notes = {{"silence/b", ""}};
  ASSERT_TRUE(reopened()->commit(commit));
  EXPECT_EQ(*reopened()->load_notes(), (Notes{{"silence/a", "one"}, {"silence/c", "three"}}));
  run_sql("UPDATE note SET value = x'00' WHERE key = 'silence/a'");
  const auto store = reopened();
  EXPECT_EQ(store->repaired(), "1 silences and notifications are forgotten");
  EXPECT_EQ(*store->load_notes(), (Notes{{"silence/c", "three"}}));
}

TEST_F(SqliteRepair, ReceiversAreForgottenOnlyOnRequest) {
  Commit commit;
  commit.acknowledged["receiver/oncall"] = 1;
  ASSERT_TRUE(reopened()->commit(commit));
  commit.acknowledged.clear();
  for (int i = 0; i < 100; ++i) commit.acknowledged["client" + std::to_string(i)] = 1;
  ASSERT_TRUE(reopened()->commit(commit));
  EXPECT_TRUE(reopened()->acknowledged().contains("receiver/oncall"));
  EXPECT_EQ(subscribers(reopened()->acknowledged()), kMostSubscribers);
  commit.acknowledged.clear();
  commit.forgotten = {"receiver/oncall"};
  ASSERT_TRUE(reopened()->commit(commit));
  EXPECT_FALSE(reopened()->acknowledged().contains("receiver/oncall"));
}

TEST_F(SqliteRepair, AStoreOfVersionFourGetsBatches) {
  run_sql("DROP TABLE batch; PRAGMA user_version = 4");
  const auto store = reopened();
  EXPECT_EQ(store->last_seq(), 3U);
  EXPECT_TRUE(store->commit(test::commit_of({resolved("a", 1)})).ok());
}

TEST_F(SqliteRepair, AStoreOfVersionThreeGetsNotes) {
  run_sql("DROP TABLE note; DROP TABLE batch; PRAGMA user_version = 3");
  const auto store = reopened();
  EXPECT_EQ(store->last_seq(), 3U);
  EXPECT_TRUE(store->load_notes()->empty());
}

// Version 2 had checksums of state and numbers only.
TEST_F(SqliteRepair, AStoreOfVersionTwoGetsChecksums) {
  run_sql(
      "ALTER TABLE outbox DROP COLUMN crc; ALTER TABLE told DROP COLUMN crc;"
      "ALTER TABLE subscriber DROP COLUMN crc; DROP TABLE note; DROP TABLE batch; PRAGMA "
      "user_version = 2;"
      "UPDATE outbox SET body = 'no JSON' WHERE seq = 3");
  {
    const auto store = reopened();
    EXPECT_EQ(store->repaired(), "1 kept alerts cannot be shown any more");
    EXPECT_EQ((*store->alerts_after(0, 1))[0]->id, "a");
    EXPECT_EQ(store->acknowledged().at("pager"), 2U);
    EXPECT_EQ(store->commit(test::commit_of({firing("a"), resolved("b", 1)}))->size(), 1U);
  }
  EXPECT_TRUE(std::filesystem::exists(directory_ / "state.db.v2.bak"));
  EXPECT_EQ(open_store(store_options(directory_.path()))->repaired(), "");
}

}  // namespace trainwatch::sqlite_repair_test
