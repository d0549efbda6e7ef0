// SPDX-License-Identifier: Apache-2.0
// What every StateStore does, on disk or not.
#include "pipeline/state/state_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/state/sqlite_store.h"
#include "support/crash_vfs.h"
#include "support/memory_store.h"
#include "support/state_commits.h"
#include "support/temp_directory.h"

namespace trainwatch::state_store_test {

using test::acknowledging;
using test::at_second;
using test::changing;
using test::commit_of;
using test::firing;
using test::resolved;
using testing::ElementsAre;
using testing::Pair;

constexpr Retention kSmall{4, std::chrono::seconds(100)};

// A store and the means to make its next commit fail.
class Kind {
 public:
  virtual ~Kind() = default;
  virtual StateStore& store() = 0;
  virtual void fail(bool fails) = 0;
};

class InMemory final : public Kind {
 public:
  StateStore& store() override { return store_; }
  void fail(bool fails) override { store_.fail(fails ? "full" : ""); }

 private:
  MemoryStore store_{"epoch-1", kSmall};
};

class OnDisk final : public Kind {
 public:
  OnDisk() {
    SqliteStoreOptions options{directory_.path(), "epoch-1", "test", kSmall};
    options.vfs = vfs_.name();
    auto opened = SqliteStore::open(options);
    store_ = std::get<std::unique_ptr<SqliteStore>>(std::move(opened));
  }
  StateStore& store() override { return *store_; }
  void fail(bool fails) override {
    vfs_.set_fault([fails](test::CrashVfs::Op op, const std::string&) {
      return fails && op == test::CrashVfs::Op::write ? SQLITE_FULL : SQLITE_OK;
    });
  }

 private:
  test::TempDirectory directory_;
  test::CrashVfs vfs_{"contract", 1};
  std::unique_ptr<SqliteStore> store_;
};

template <class T>
class StateStoreTest : public testing::Test {
 protected:
  StateStore& store() { return kind_.store(); }
  void fail(bool fails) { kind_.fail(fails); }

  PublishedAlerts commit(const Commit& commit) {
    auto published = store().commit(commit);
    EXPECT_TRUE(published.ok());
    return published ? *published : PublishedAlerts();
  }
  std::vector<std::uint64_t> kept() {
    const auto alerts = store().alerts_after(0, 1000);
    EXPECT_TRUE(alerts.ok());
    std::vector<std::uint64_t> seqs;
    for (const auto& alert : *alerts) seqs.push_back(alert->seq);
    return seqs;
  }

 private:
  T kind_;
};

class KindName {
 public:
  template <class T>
  static std::string GetName(int) {
    return std::is_same_v<T, InMemory> ? "MemoryStore" : "SqliteStore";
  }
};
using Kinds = testing::Types<InMemory, OnDisk>;
TYPED_TEST_SUITE(StateStoreTest, Kinds, KindName);

// A client asks for what it likes: numbers beyond those of the store's integers have nothing after
// them.
TYPED_TEST(StateStoreTest, NothingComesAfterTheLargestNumbers) {
  this->commit(commit_of({firing("a"), firing("b")}));
  for (const std::uint64_t after : {std::uint64_t{2}, std::uint64_t{1} << 63U, ~std::uint64_t{0}}) {
    EXPECT_TRUE(this->store().alerts_after(after, 9)->empty()) << after;
  }
}

TYPED_TEST(StateStoreTest, BeginsEmpty) {
  EXPECT_EQ(this->store().epoch(), "epoch-1");
  EXPECT_TRUE(this->store().load()->empty());
  EXPECT_EQ(this->store().first_seq(), 1U);
  EXPECT_EQ(this->store().last_seq(), 0U);
  EXPECT_TRUE(this->store().acknowledged().empty());
  EXPECT_THAT(this->kept(), ElementsAre());
}

TYPED_TEST(StateStoreTest, NumbersAlertsInOneSequence) {
  const auto first = this->commit(commit_of({firing("a"), firing("b")}));
  const auto second = this->commit(commit_of({firing("c")}));
  ASSERT_EQ(first.size(), 2U);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(first[0]->seq, 1U);
  EXPECT_EQ(first[1]->seq, 2U);
  EXPECT_EQ(second[0]->seq, 3U);
  EXPECT_THAT(second[0]->json, testing::HasSubstr(R"("seq":3,"epoch":"epoch-1")"));
  EXPECT_EQ(this->store().first_seq(), 1U);
  EXPECT_EQ(this->store().last_seq(), 3U);
}

TYPED_TEST(StateStoreTest, KeepsAllOfAnAlert) {
  Alert alert = firing("a");
  alert.rule = "step_spike";
  alert.severity = Severity::critical;
  alert.verdict.summary = "it's \"late\" \xe2\x80\x93 now";
  const auto published = this->commit(commit_of({alert}));
  const auto found = *this->store().alerts_after(0, 10);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->seq, published[0]->seq);
  EXPECT_EQ(found[0]->id, "a");
  EXPECT_EQ(found[0]->rule, "step_spike");
  EXPECT_EQ(found[0]->severity, Severity::critical);
  EXPECT_EQ(found[0]->state, Alert::State::firing);
  EXPECT_EQ(found[0]->json, published[0]->json);
}

TYPED_TEST(StateStoreTest, KnowsWhatFiresNow) {
  this->commit(commit_of({firing("a"), firing("b")}));
  Alert later = firing("a");
  later.updated_at += std::chrono::seconds(1);
  later.verdict.summary = "more";
  Alert over = firing("b");
  over.state = Alert::State::resolved;
  this->commit(commit_of({later, over, firing("c")}));
  const auto found = *this->store().firing(10);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]->id, "a");
  EXPECT_EQ(found[0]->seq, 3U) << "its latest version";
  EXPECT_EQ(found[1]->id, "c");
  EXPECT_EQ(this->store().firing(1)->size(), 1U);
}

TYPED_TEST(StateStoreTest, PublishesNothingTwice) {
  this->commit(commit_of({firing("a", 10), firing("b", 10)}));
  EXPECT_EQ(this->commit(commit_of({firing("a", 10)})).size(), 0U);  // the same
  EXPECT_EQ(this->commit(commit_of({firing("a", 9)})).size(), 0U);   // older
  EXPECT_EQ(this->commit(commit_of({firing("a", 11)})).size(), 1U);  // newer
  EXPECT_EQ(this->commit(commit_of({resolved("a", 11)})).size(), 1U);
  EXPECT_EQ(this->commit(commit_of({firing("a", 12)})).size(), 0U);  // it is over
  EXPECT_EQ(this->commit(commit_of({firing("c", 1), firing("c", 1)})).size(), 1U);
  EXPECT_EQ(this->store().last_seq(), 5U);
}

TYPED_TEST(StateStoreTest, LoadsRowsInTheOrderOfTheirKeys) {
  const std::string binary("\0\xff'\"\n", 5);
  this->commit(changing({{"rule/b", "1"}, {"file/2", ""}, {"rule/a", binary}}));
  this->commit(changing({{"rule/b", "2"}}, {"file/2", "unknown"}));
  const auto rows = *this->store().load();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].key, "rule/a");
  EXPECT_EQ(rows[0].value, binary);
  EXPECT_EQ(rows[1].key, "rule/b");
  EXPECT_EQ(rows[1].value, "2");
}

TYPED_TEST(StateStoreTest, RemembersCursors) {
  this->commit(acknowledging({{"pager", 3}, {"page", 1}}));
  this->commit(acknowledging({{"pager", 7}}));
  EXPECT_THAT(this->store().acknowledged(), ElementsAre(Pair("page", 1), Pair("pager", 7)));
}

TYPED_TEST(StateStoreTest, ForgetsTheSubscriberThatIsSilentTheLongest) {
  const auto name = [](std::size_t i) { return "scanner-" + std::to_string(i); };
  Commit early = acknowledging({{"pager", 3}});
  this->commit(early);
  for (std::size_t i = 0; i < kMostSubscribers; ++i) {
    Commit commit = acknowledging({{name(i), 1}});
    commit.now = at_second(static_cast<std::int64_t>(i) + 1);
    this->commit(commit);
    if (i + 2 == kMostSubscribers) {
      Commit again = acknowledging({{"pager", 4}});
      again.now = commit.now;
      this->commit(again);
    }
  }
  EXPECT_EQ(this->store().acknowledged().size(), kMostSubscribers);
  EXPECT_EQ(this->store().acknowledged().at("pager"), 4U);
  EXPECT_FALSE(this->store().acknowledged().contains(name(0)));
  EXPECT_EQ(this->store().subscribers_forgotten(), 1U);
}

TYPED_TEST(StateStoreTest, GivesAlertsInPages) {
  this->commit(commit_of({firing("a"), firing("b"), firing("c"), firing("d")}));
  const auto page = *this->store().alerts_after(1, 2);
  ASSERT_EQ(page.size(), 2U);
  EXPECT_EQ(page[0]->seq, 2U);
  EXPECT_EQ(page[1]->seq, 3U);
  EXPECT_TRUE(this->store().alerts_after(4, 2)->empty());
  EXPECT_TRUE(this->store().alerts_after(0, 0)->empty());
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(this->store().alerts_after(kMost, 2)->empty());
  EXPECT_EQ(this->store().alerts_after(0, kMost)->size(), 4U);
}

TYPED_TEST(StateStoreTest, KeepsAsManyAsRetentionSays) {
  for (const char* id : {"a", "b", "c", "d", "e", "f"}) this->commit(commit_of({firing(id)}));
  EXPECT_THAT(this->kept(), ElementsAre(3, 4, 5, 6));
  EXPECT_EQ(this->store().first_seq(), 3U);
}

TYPED_TEST(StateStoreTest, KeepsAsLongAsRetentionSays) {
  this->commit(commit_of({firing("a")}, at_second(0)));
  this->commit(commit_of({firing("b")}, at_second(50)));
  this->commit(commit_of({}, at_second(100)));
  EXPECT_THAT(this->kept(), ElementsAre(1, 2));
  this->commit(commit_of({}, at_second(101)));
  EXPECT_THAT(this->kept(), ElementsAre(2));
  this->commit(commit_of({}, at_second(1000)));
  EXPECT_THAT(this->kept(), ElementsAre());
  EXPECT_EQ(this->store().first_seq(), 3U);
  EXPECT_EQ(this->store().last_seq(), 2U);
  EXPECT_EQ(this->commit(commit_of({firing("c")}, at_second(1000)))[0]->seq, 3U);
}

TYPED_TEST(StateStoreTest, HoldsWhatASubscriberHasNotAcknowledgedUpToTwiceAsMuch) {
  this->commit(acknowledging({{"pager", 1}}));
  for (const char* id : {"a", "b", "c", "d", "e", "f"}) this->commit(commit_of({firing(id)}));
  EXPECT_THAT(this->kept(), ElementsAre(2, 3, 4, 5, 6));
  for (const char* id : {"g", "h", "i", "j"}) this->commit(commit_of({firing(id)}));
  EXPECT_THAT(this->kept(), ElementsAre(3, 4, 5, 6, 7, 8, 9, 10));
  this->commit(acknowledging({{"pager", 9}}));
  EXPECT_THAT(this->kept(), ElementsAre(7, 8, 9, 10));
}

TYPED_TEST(StateStoreTest, ForgetsResolvedAlertsWithTheirLastVersion) {
  this->commit(commit_of({firing("firing", 1), firing("over", 1), resolved("over", 2)}));
  for (const char* id : {"a", "b", "c", "d"}) this->commit(commit_of({firing(id)}));
  EXPECT_THAT(this->kept(), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(this->commit(commit_of({firing("firing", 1)})).size(), 0U);
  EXPECT_EQ(this->commit(commit_of({resolved("over", 2)})).size(), 1U);
}

TYPED_TEST(StateStoreTest, AFailedCommitLeavesNothing) {
  this->commit({{}, {{"k", "1"}}, {}, {firing("a")}, {{"pager", 1}}});
  const Commit next{{},
                    {{"k", std::string(10'000, '2')}, {"new", "1"}},
                    {"k"},
                    {firing("b"), resolved("a", 5)},
                    {{"pager", 2}, {"other", 0}}};
  this->fail(true);
  EXPECT_FALSE(this->store().commit(next).ok());
  EXPECT_FALSE(this->store().commit(next).ok());
  EXPECT_EQ(this->store().last_seq(), 1U);
  EXPECT_EQ(this->store().acknowledged().size(), 1U);
  EXPECT_THAT(this->kept(), ElementsAre(1));
  EXPECT_EQ(this->store().load()->at(0).value, "1");
  this->fail(false);
  const auto published = this->commit(next);
  ASSERT_EQ(published.size(), 2U);
  EXPECT_EQ(published[0]->seq, 2U);
  EXPECT_THAT(this->kept(), ElementsAre(1, 2, 3));
}

}  // namespace trainwatch::state_store_test
