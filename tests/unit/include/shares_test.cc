// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/shares.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "trainwatch/interner.h"
#include "trainwatch/state_io.h"

namespace trainwatch::shares_test {

constexpr std::size_t kLimit = 1280;

struct Table {
  // How many entries `holder` gets if it asks for more than there are.
  std::size_t fill(Holder holder, std::size_t wanted = kLimit) {
    shares.set_holder(holder);
    std::size_t got = 0;
    for (; got < wanted && shares.may_take({1}, {used}, {kLimit}); ++got, ++used)
      shares.add(holder);
    return got;
  }

  Shares shares;
  std::size_t used = 0;
};

TEST(Shares, OneLaneGetsAQuarter) {
  Table table;
  EXPECT_EQ(table.fill({1, 1}), kLimit / 4);
  EXPECT_EQ(table.fill({1, 1}), 0U);
}

TEST(Shares, OneFolderGetsThreeEighths) {
  Table table;
  for (std::uint32_t lane = 1; lane <= 600; ++lane) table.fill({lane, 1}, 1);
  EXPECT_EQ(table.used, kLimit * 3 / 8);
}

TEST(Shares, AnotherLaneOfTheSameFolderFindsRoom) {
  Table table;
  table.fill({1, 1});
  EXPECT_EQ(table.fill({2, 1}, 50), 50U);
}

TEST(Shares, AnotherFolderFindsRoomHoweverManyAreGreedy) {
  Table table;
  for (std::uint32_t folder = 1; folder <= 50; ++folder) {
    for (std::uint32_t lane = 1; lane <= 20; ++lane) table.fill({folder * 100 + lane, folder});
  }
  EXPECT_GE(table.fill({1, 99}), 5U);
}

TEST(Shares, NobodyInParticularTakesWhatIsFree) {
  Table table;
  EXPECT_EQ(table.fill(kNobody), kLimit);
}

TEST(Shares, BytesAreDividedLikeEntries) {
  Shares shares;
  shares.set_holder({1, 1});
  shares.add({1, 1}, 100);
  EXPECT_FALSE(shares.may_take({1, 1}, {1, 100}, {kLimit, 400}));
  EXPECT_TRUE(shares.may_take({1, 1}, {1, 100}, {kLimit, 404}));
}

TEST(Shares, ARestartKeepsThem) {
  SubjectTable before(60);
  before.set_holder({1, 1});
  for (int n = 0; before.intern({"job" + std::to_string(n), "", kNoRank, ""}); ++n) {
  }
  StateIo saving = StateIo::saving();
  before.state(saving);
  const std::string stored = saving.take();
  StateIo loading = StateIo::loading(stored);
  SubjectTable after(60);
  after.state(loading);
  ASSERT_TRUE(loading.complete());
  after.set_holder({1, 1});
  EXPECT_FALSE(after.intern({"one more", "", kNoRank, ""}));
  after.set_holder({2, 2});
  EXPECT_TRUE(after.intern({"one more", "", kNoRank, ""}));
}

// Names of a greedy writer that went on when others were there: none is lost as the others age.
TEST(Shares, WhatIsHeldIsAdoptedWhatEverTheOrder) {
  SymbolTable before(62);
  before.set_holder({1, 1});
  for (int n = 0; n < 20; ++n) before.intern("greedy" + std::to_string(n));
  before.set_holder({2, 2});
  for (int n = 0; n < 10; ++n) before.intern("other" + std::to_string(n));
  const std::size_t held = before.size();
  SymbolTable after = before.emptied();
  for (std::size_t n = held; n-- > 0;) {
    const auto symbol = static_cast<Symbol>(n);
    EXPECT_EQ(after.text(after.adopt(before, symbol)), before.text(symbol));
  }
  after.set_holder({1, 1});
  EXPECT_EQ(after.intern("one more"), Symbol::other);
}

}  // namespace trainwatch::shares_test
