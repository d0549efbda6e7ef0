// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/last_seen.h"

#include <gtest/gtest.h>

namespace trainwatch::last_seen_test {

class LastSeenTest : public testing::Test {
 protected:
  SubjectId node(const std::string& name) {
    Subject subject;
    subject.node = name;
    return *interner_.subjects.intern(subject);
  }
  void rounds(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) seen_.next_round(interner_);
  }

  Interner interner_;
  LastSeen seen_;
};

TEST_F(LastSeenTest, WhatIsNewIsNotSilent) {
  rounds(100);
  const SubjectId id = node("a");
  rounds(LastSeen::kPatience);
  EXPECT_FALSE(seen_.is_silent(id));
  rounds(1);
  EXPECT_TRUE(seen_.is_silent(id));
}

TEST_F(LastSeenTest, AnyWordCounts) {
  const SubjectId heard = node("a");
  const SubjectId silent = node("b");
  for (std::uint32_t i = 0; i <= LastSeen::kPatience; ++i) {
    seen_.saw(heard);
    rounds(1);
  }
  EXPECT_FALSE(seen_.is_silent(heard));
  EXPECT_TRUE(seen_.is_silent(silent));
}

TEST_F(LastSeenTest, ChangesOncePerRoundAndId) {
  const SubjectId id = node("a");
  rounds(1);
  EXPECT_TRUE(seen_.take_changed());
  seen_.saw(id);
  EXPECT_TRUE(seen_.take_changed());
  seen_.saw(id);
  EXPECT_FALSE(seen_.take_changed());
}

}  // namespace trainwatch::last_seen_test
