// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/pending_causes.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "rules/catalog.h"

namespace trainwatch::pending_causes_test {

class PendingCausesTest : public testing::Test {
 protected:
  SubjectId node(const std::string& name) {
    return interner_.subjects.intern({"", name, kNoRank, ""}).value();
  }
  void add(PendingCauses& pending, const std::string& id, const std::string& on_node) {
    pending.add({{0, node(on_node), ""}, id, Verdict{}});
  }
  // Which are asked for when the nodes were sampled; none of them is settled.
  std::vector<std::string> asked(const std::vector<std::string>& nodes) {
    for (const std::string& name : nodes) pending_.note_sampled(node(name));
    std::vector<std::string> ids;
    pending_.settle_sampled([&](const PendingCauses::Entry& entry) {
      ids.push_back(entry.id);
      return false;
    });
    return ids;
  }
  static std::vector<std::string> all(PendingCauses& pending) {
    std::vector<std::string> ids;
    pending.settle_all([&](const PendingCauses::Entry& entry) {
      ids.push_back(entry.id);
      return false;
    });
    return ids;
  }
  void settle(const std::string& id) {
    pending_.settle_all([&](const PendingCauses::Entry& entry) { return entry.id == id; });
  }
  // The keys that a commit writes, and those that it removes with a '-' before them.
  std::vector<std::string> changed() {
    StateRows rows;
    pending_.save(rows, rules_, false);
    std::vector<std::string> keys;
    for (const auto& [key, value] : rows.changed()) keys.push_back((value ? "" : "-") + key);
    return keys;
  }

  // The rows of the store after a commit to `stored`.
  void commit(StoredRows& stored) {
    StateRows rows;
    pending_.save(rows, rules_, false);
    for (const auto& [key, value] : rows.changed()) {
      stored.erase(key);
      if (value) stored.emplace(key, *value);
    }
  }
  StoredRows all_rows() {
    StateRows rows;
    PendingCauses(pending_).save(rows, rules_, true);
    StoredRows found;
    for (const auto& [key, value] : rows.changed()) {
      if (value) found.emplace(key, *value);
    }
    return found;
  }

  using Ids = std::vector<std::string>;
  Interner interner_;
  PendingCauses pending_{interner_};
  std::vector<RuleConfig> rules_{RuleConfig(*rule_catalog().front())};
};

TEST_F(PendingCausesTest, AskedForWhenTheirNodeWasSampled) {
  add(pending_, "1", "a");
  add(pending_, "2", "b");
  add(pending_, "3", "a");
  EXPECT_EQ(asked({"c"}), Ids{});
  EXPECT_EQ(asked({"a", "a", "c"}), (Ids{"1", "3"}));
  EXPECT_EQ(asked({"b", "a"}), (Ids{"1", "2", "3"})) << "in the order of arrival";
  settle("2");
  EXPECT_EQ(asked({"b"}), Ids{});
}

TEST_F(PendingCausesTest, AnAlertWaitsOnceAndTheOldestGivesWay) {
  add(pending_, "1", "a");
  add(pending_, "2", "a");
  add(pending_, "1", "a");
  EXPECT_EQ(all(pending_), (Ids{"2", "1"}));
  for (std::size_t i = 0; i < PendingCauses::kMost - 1; ++i) {
    add(pending_, "more " + std::to_string(i), "b");
  }
  EXPECT_EQ(all(pending_).size(), PendingCauses::kMost);
  EXPECT_EQ(all(pending_).front(), "1");
  EXPECT_EQ(asked({"a"}), Ids{"1"});
}

TEST_F(PendingCausesTest, ACommitWritesWhatChanged) {
  add(pending_, "1", "a");
  add(pending_, "2", "a");
  ASSERT_EQ(changed().size(), 2U);
  EXPECT_EQ(changed(), Ids{});
  add(pending_, "3", "a");
  settle("1");
  const Ids keys = changed();
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].front(), '-');
  add(pending_, "4", "a");
  settle("4");
  EXPECT_EQ(changed(), Ids{}) << "it was never stored";
}

TEST_F(PendingCausesTest, TheStoreHasWhatWaitsWhateverCameAndWent) {
  std::mt19937 random(1);
  const auto any = [&random](int below) { return static_cast<int>(random() % below); };
  Ids waiting;
  StoredRows stored;
  for (int i = 0; i < 5000; ++i) {
    const std::string id = std::to_string(any(12));
    if (any(3) > 0) {
      add(pending_, id, any(2) == 0 ? "a" : "b");
      std::erase(waiting, id);
      waiting.push_back(id);
    } else {
      settle(id);
      std::erase(waiting, id);
    }
    ASSERT_EQ(all(pending_), waiting) << i;
    if (any(2) > 0) continue;
    commit(stored);
    ASSERT_EQ(stored, all_rows()) << i;
  }
}

TEST_F(PendingCausesTest, SurviveARestartInTheirOrder) {
  for (int i = 0; i < 12; ++i) add(pending_, std::to_string(i), "a");
  settle("3");
  const StoredRows rows = all_rows();
  SameIds ids(interner_);
  PendingCauses loaded(interner_);
  ASSERT_TRUE(loaded.load({rows, &ids}, rules_, {true}));
  EXPECT_EQ(all(loaded), all(pending_));
  PendingCauses other(interner_);
  ASSERT_TRUE(other.load({rows, &ids}, rules_, {false})) << "the rule has other parameters now";
  EXPECT_EQ(all(other), Ids{});
}

}  // namespace trainwatch::pending_causes_test
