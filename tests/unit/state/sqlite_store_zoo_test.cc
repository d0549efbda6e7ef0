// SPDX-License-Identifier: Apache-2.0
// What else can lie where the store's database should be: each is opened, set aside or refused, and
// what is refused stays as it is, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>

#include "pipeline/state/sqlite_schema.h"
#include "support/open_store.h"
#include "support/state_commits.h"
#include "support/temp_directory.h"

namespace trainwatch::sqlite_store_zoo_test {

using test::open_store;
using test::refusal;
using test::store_options;
using testing::HasSubstr;
using Why = OpenFailure::Why;
namespace fs = std::filesystem;

constexpr std::size_t kPage = 4096;

class Zoo : public testing::Test {
 protected:
  std::string path() const { return directory_ / "state.db"; }
  std::string bytes() const { return directory_.read("state.db"); }
  void put(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
  }
  void run_sql(const char* sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
  }

  static Commit content() {
    Commit commit;
    for (int i = 0; i < 20; ++i) {
      const std::string name = std::to_string(i);
      commit.changed.push_back({"rule/" + name, std::string(1500, 'r')});
      Alert alert = test::firing("alert-" + name, i);
      alert.verdict.summary = std::string(700, 's');
      commit.alerts.push_back(alert);
    }
    commit.acknowledged["pager"] = 3;
    return commit;
  }
  // Makes a store with some pages of everything; its bytes after a clean end.
  std::string make_store() const {
    EXPECT_TRUE(open_store(store_options(directory_.path()))->commit(content()).ok());
    return bytes();
  }

  // It works, and either is what it was or says that it began again, which is returned.
  bool begins_anew(SqliteStore& store) const {
    const bool anew = store.epoch() == "epoch-2";
    EXPECT_EQ(anew, !store.lost().empty()) << store.lost();
    if (anew) {
      EXPECT_THAT(store.lost(), HasSubstr("state.db.corrupt-1"));
      EXPECT_TRUE(fs::exists(path() + ".corrupt-1"));
      EXPECT_EQ(store.last_seq(), 0U);
    } else {
      EXPECT_EQ(store.epoch(), "epoch-1");
      EXPECT_EQ(store.last_seq(), 20U);
      const auto rows = store.load();
      EXPECT_EQ(rows->size(), 20U);
      for (const StateRow& row : *rows) EXPECT_EQ(row.value, std::string(1500, 'r'));
    }
    EXPECT_TRUE(store.commit(test::commit_of({test::firing("next")})).ok());
    return anew;
  }
  SqliteStoreOptions options() const { return store_options(directory_.path(), "epoch-2"); }
  void expect_set_aside(const std::string& content) const {
    put(content);
    EXPECT_TRUE(begins_anew(*open_store(options())));
    EXPECT_TRUE(directory_.read("state.db.corrupt-1") == content);
  }

  test::TempDirectory directory_;
};

// SQLite reports a file of one byte as empty.
TEST_F(Zoo, AnEmptyFileIsANewStore) {
  for (const char* content : {"", "S"}) {
    put(content);
    const auto store = open_store(store_options(directory_.path()));
    EXPECT_EQ(store->epoch(), "epoch-1");
    EXPECT_EQ(store->lost(), "");
  }
}

TEST_F(Zoo, TwoBytesAreSetAside) {
  expect_set_aside("SQ");
}

TEST_F(Zoo, TextIsSetAside) {
  expect_set_aside("{\"state\": 1}\n");
}

TEST_F(Zoo, ZerosAreSetAside) {
  expect_set_aside(std::string(8 * kPage, '\0'));
}

TEST_F(Zoo, RandomBytesAreSetAside) {
  std::mt19937_64 random(1);
  std::string noise(8 * kPage, ' ');
  for (char& c : noise) c = static_cast<char>(random());
  expect_set_aside(noise);
}

TEST_F(Zoo, EachIsSetAsideUnderANameOfItsOwn) {
  put("one");
  EXPECT_TRUE(begins_anew(*open_store(options())));
  put("two");
  EXPECT_THAT(open_store(store_options(directory_.path()))->lost(), HasSubstr("corrupt-2"));
  EXPECT_EQ(directory_.read("state.db.corrupt-1"), "one");
  EXPECT_EQ(directory_.read("state.db.corrupt-2"), "two");
}

TEST_F(Zoo, TruncatedStoresAreSetAside) {
  const std::string whole = make_store();
  for (const std::size_t size : {std::size_t{50}, std::size_t{512}, kPage, kPage + 1, 2 * kPage,
                                 whole.size() / 2, whole.size() - kPage}) {
    SCOPED_TRACE(size);
    fs::remove(path() + ".corrupt-1");
    expect_set_aside(whole.substr(0, size));
  }
}

// A bit that flips in what a commit depends on is found. One in free space changes nothing; one in
// the text of an alert changes that text, and one in the header may make it another's file.
TEST_F(Zoo, FlippedBitsAreFoundOrHarmless) {
  const std::string whole = make_store();
  std::mt19937_64 random(1);
  const int flips_per_page = std::getenv("TRAINWATCH_LONG") == nullptr ? 4 : 100;
  int anew = 0;
  int refused = 0;
  int flips = 0;
  for (std::size_t page = 0; page < whole.size() / kPage; ++page) {
    for (int n = 0; n < flips_per_page; ++n, ++flips) {
      const std::size_t at = page * kPage + (n == 0 ? random() % 8 : random() % kPage);
      SCOPED_TRACE("byte " + std::to_string(at));
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
      put(damaged);
      fs::remove(path() + ".corrupt-1");
      auto opened = SqliteStore::open(options());
      if (const auto* failure = std::get_if<OpenFailure>(&opened)) {
        ++refused;
        EXPECT_TRUE(failure->why == Why::not_ours || failure->why == Why::newer);
        EXPECT_LT(at, 100U);
        EXPECT_TRUE(bytes() == damaged);
      } else if (begins_anew(*std::get<std::unique_ptr<SqliteStore>>(opened))) {
        ++anew;
      }
    }
  }
  std::cout << flips << " flips: " << anew << " set aside, " << refused << " refused, "
            << flips - anew - refused << " harmless\n";
  EXPECT_GT(anew, flips / 5);
}

TEST_F(Zoo, AnUncleanEndKeepsWhatWasCommitted) {
  const test::TempDirectory other;
  {
    const auto store = open_store(store_options(directory_.path()));
    ASSERT_TRUE(store->commit(content()).ok());
    for (const char* name : {"state.db", "state.db-wal"}) other.append(name, directory_.read(name));
  }
  const auto store = open_store(store_options(other.path(), "epoch-2"));
  EXPECT_EQ(store->epoch(), "epoch-1");
  EXPECT_EQ(store->last_seq(), 20U);
}

TEST_F(Zoo, AStaleLogIsNotTakenForANewStores) {
  const test::TempDirectory other;
  {
    const auto store = open_store(store_options(directory_.path()));
    ASSERT_TRUE(store->commit(content()).ok());
    other.append("state.db-wal", directory_.read("state.db-wal"));
  }
  EXPECT_EQ(open_store(store_options(other.path(), "epoch-2"))->epoch(), "epoch-2");
}

// A bit of the header that says what the file is: nobody else's file is that close to ours.
TEST_F(Zoo, AHeaderWithOneWrongBitIsDamage) {
  for (const char* sql :
       {"PRAGMA user_version = 0", "PRAGMA user_version = 65536",
        "PRAGMA user_version = -2147483648", "PRAGMA application_id = 1415009072"}) {
    SCOPED_TRACE(sql);
    for (const auto& entry : fs::directory_iterator(directory_.path())) fs::remove(entry);
    make_store();
    run_sql(sql);
    EXPECT_TRUE(begins_anew(*open_store(options())));
    const auto again = open_store(options());
    EXPECT_EQ(again->lost(), "");
    EXPECT_EQ(again->epoch(), "epoch-2");
  }
}

TEST_F(Zoo, ATableWithoutOneOfItsColumnsIsDamage) {
  make_store();
  run_sql("ALTER TABLE told RENAME COLUMN content TO other; PRAGMA user_version = 2");
  EXPECT_TRUE(begins_anew(*open_store(options())));
}

TEST_F(Zoo, ADatabaseOfSomethingElseIsRefusedUntouched) {
  run_sql("PRAGMA journal_mode = WAL; CREATE TABLE theirs(a); INSERT INTO theirs VALUES(1)");
  const std::string before = bytes();
  const OpenFailure failure = refusal(store_options(directory_.path()));
  EXPECT_EQ(failure.why, Why::not_ours);
  EXPECT_THAT(failure.message, HasSubstr(path()));
  EXPECT_TRUE(bytes() == before);
}

TEST_F(Zoo, AStoreOfALaterVersionIsRefusedUntouched) {
  make_store();
  run_sql(("PRAGMA user_version = " + std::to_string(kSchemaVersion + 1)).c_str());
  const std::string before = bytes();
  const OpenFailure failure = refusal(store_options(directory_.path()));
  EXPECT_EQ(failure.why, Why::newer);
  EXPECT_THAT(failure.message, HasSubstr(path()));
  EXPECT_TRUE(bytes() == before);
}

TEST_F(Zoo, AVersionThatIsOnlyInTheLogIsRefusedUntouched) {
  make_store();
  const test::TempDirectory other;
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
  const std::string later = "PRAGMA user_version = " + std::to_string(kSchemaVersion + 1);
  sqlite3_exec(database, later.c_str(), nullptr, nullptr, nullptr);
  for (const char* name : {"state.db", "state.db-wal"}) other.append(name, directory_.read(name));
  sqlite3_close(database);
  const std::string before = other.read("state.db");
  const std::string log = other.read("state.db-wal");
  EXPECT_EQ(refusal(store_options(other.path())).why, Why::newer);
  EXPECT_TRUE(other.read("state.db") == before);
  EXPECT_TRUE(other.read("state.db-wal") == log);
}

TEST_F(Zoo, ADirectoryOfThatNameIsRefused) {
  fs::create_directory(path());
  EXPECT_EQ(refusal(store_options(directory_.path())).why, Why::not_ours);
  EXPECT_TRUE(fs::is_directory(path()));
}

TEST_F(Zoo, AFileInPlaceOfTheDirectoryIsRefused) {
  put("a file");
  const OpenFailure failure = refusal(store_options(path()));
  EXPECT_EQ(failure.why, Why::unusable);
  EXPECT_THAT(failure.message, HasSubstr(path()));
}

TEST_F(Zoo, ADirectoryThatCannotBeWrittenIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(directory_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(refusal(store_options(directory_.path())).why, Why::unusable);
  fs::permissions(directory_.path(), fs::perms::owner_all);
}

}  // namespace trainwatch::sqlite_store_zoo_test
