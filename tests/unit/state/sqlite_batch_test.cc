// SPDX-License-Identifier: Apache-2.0
// Rows that a commit with alerts stores in one piece.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>

#include "pipeline/state/sqlite_database.h"
#include "pipeline/state/sqlite_transaction.h"
#include "support/open_store.h"
#include "support/state_commits.h"
#include "support/temp_directory.h"

namespace trainwatch::sqlite_batch_test {

using test::firing;
using testing::ElementsAre;
using testing::Pair;

class SqliteBatch : public testing::Test {
 protected:
  SqliteBatch() { reopen(); }

  void reopen() {
    store_.reset();
    store_ = test::open_store(test::store_options(directory_.path()));
  }
  void commit(std::vector<StateRow> changed, std::vector<std::string> removed, bool alert) {
    Commit commit;
    if (alert) commit = test::commit_of({firing("alert-" + std::to_string(alerts_++))});
    commit.changed = std::move(changed);
    commit.removed = std::move(removed);
    ASSERT_TRUE(store_->commit(commit).ok());
  }
  std::map<std::string, std::string> rows() const {
    std::map<std::string, std::string> found;
    const auto rows = store_->load();
    EXPECT_TRUE(rows.ok());
    std::string before;
    for (const StateRow& row : *rows) {
      EXPECT_LT(before, row.key);
      before = row.key;
      found[row.key] = row.value;
    }
    return found;
  }
  // How many rows the table has. The store is closed for that.
  std::string count(const std::string& table) {
    store_.reset();
    auto database = SqliteDatabase::open(directory_ / "state.db", "");
    std::string found = *database->ask("SELECT count(*) FROM " + table);
    database = Error{"closed"};
    reopen();
    return found;
  }

  test::TempDirectory directory_;
  std::unique_ptr<SqliteStore> store_;
  int alerts_ = 0;
};

TEST_F(SqliteBatch, IsLoadedOverTheRowsBefore) {
  commit({{"b", "1"}, {"c", "1"}, {"e", "1"}}, {}, false);
  commit({{"a", "2"}, {"c", "2"}}, {"e"}, true);
  commit({{"f", "3"}, {"a", "3"}}, {"b"}, true);
  EXPECT_EQ(count("batch"), "2");
  EXPECT_EQ(count("state"), "3");
  EXPECT_THAT(rows(), ElementsAre(Pair("a", "3"), Pair("c", "2"), Pair("f", "3")));
}

TEST_F(SqliteBatch, IsMovedByTheNextCommitWithoutAlerts) {
  commit({{"a", "1"}, {"b", "1"}}, {}, true);
  commit({{"b", "2"}}, {}, true);
  commit({{"a", "3"}}, {}, false);
  EXPECT_EQ(count("batch"), "0");
  EXPECT_THAT(rows(), ElementsAre(Pair("a", "3"), Pair("b", "2")));
}

TEST_F(SqliteBatch, ManyBytesGoToTheirPlaces) {
  commit({{"a", "1"}, {"b", "1"}}, {}, true);
  const std::string long_row(SqliteTransaction::kMostInBatch, 'x');
  commit({{"b", "2"}, {"c", long_row}, {"d", "2"}}, {"a"}, true);
  EXPECT_EQ(count("batch"), "0");
  EXPECT_THAT(rows(), ElementsAre(Pair("b", "2"), Pair("c", long_row), Pair("d", "2")));
}

TEST_F(SqliteBatch, AllOfThemAreBounded) {
  const std::string row(SqliteTransaction::kMostInBatch / 2, 'x');
  for (int i = 0; i < 40; ++i) {
    commit({{"row", row + std::to_string(i)}}, {}, true);
    if (i % 7 == 0) reopen();
  }
  EXPECT_LE(std::stoi(count("batch")), 10);
  EXPECT_EQ(rows().at("row"), row + "39");
}

TEST_F(SqliteBatch, ADamagedOneEndsTheStore) {
  commit({{"a", "1"}}, {}, true);
  store_.reset();
  {
    auto database = SqliteDatabase::open(directory_ / "state.db", "");
    ASSERT_TRUE(database->run("UPDATE batch SET rows = x'00'"));
  }
  reopen();
  EXPECT_THAT(store_->lost(), testing::HasSubstr("batch 1: wrong checksum"));
}

TEST_F(SqliteBatch, WhateverIsStoredHowIsLoaded) {
  std::mt19937 random(7);
  std::map<std::string, std::string> expected;
  for (int round = 0; round < 300; ++round) {
    std::vector<StateRow> changed;
    std::vector<std::string> removed;
    for (auto n = random() % 5; n > 0; --n) {
      const std::string key = "row/" + std::to_string(random() % 20);
      if (random() % 4 == 0) {
        removed.push_back(key);
      } else {
        changed.push_back({key, std::string(random() % (random() % 8 == 0 ? 200'000 : 300), 'v')});
      }
    }
    for (const StateRow& row : changed) expected[row.key] = row.value;
    for (const std::string& key : removed) expected.erase(key);
    commit(std::move(changed), std::move(removed), random() % 3 != 0);
    if (random() % 10 == 0) reopen();
    if (random() % 10 == 0) {
      ASSERT_EQ(rows(), expected);
    }
  }
}

}  // namespace trainwatch::sqlite_batch_test
