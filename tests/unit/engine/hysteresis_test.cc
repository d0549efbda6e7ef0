// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/hysteresis.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace trainwatch::hysteresis_test {

class HysteresisTest : public testing::Test {
 protected:
  // A letter per evaluation: '.' clear, 'f' fires, 'k' fires but is too little to open, 'h' holds.
  // What came of each: 'U' opened or worth an update, 'E' ended, '-' nothing.
  std::string run(std::string_view evaluations) {
    std::string out;
    for (const char what : evaluations) {
      bool matters = false;
      if (what == '.') matters = hysteresis_.clear(lifecycle_);
      if (what == 'h') hysteresis_.holds();
      condition_.opens = what != 'k';
      if (what == 'f' || what == 'k') matters = hysteresis_.fires(condition_, lifecycle_);
      out += !matters ? '-' : what == '.' ? 'E' : 'U';
    }
    return out;
  }
  bool update(double figure) {
    condition_.figure = figure;
    return hysteresis_.fires(condition_, lifecycle_);
  }

  Hysteresis hysteresis_;
  Lifecycle lifecycle_;
  Condition condition_;
};

TEST_F(HysteresisTest, OpensOnceAndEndsWithTheFirstClearOne) {
  EXPECT_EQ(run("..ff.."), "--UUE-");
  EXPECT_EQ(hysteresis_.firings(), 0U);
}

TEST_F(HysteresisTest, RecoversAfterClearOnesInARow) {
  lifecycle_.recover_after = 3;
  EXPECT_EQ(run("f..f..h...f"), "U--U-----EU");
}

TEST_F(HysteresisTest, WhatIsTooLittleToOpenKeepsOpen) {
  lifecycle_.recover_after = 2;
  EXPECT_EQ(run("kkfk.k..k"), "--UU-U-E-");
}

TEST_F(HysteresisTest, AConditionMayAskForMoreClearOnes) {
  lifecycle_.recover_after = 1;
  condition_.recover_after = 3;
  EXPECT_EQ(run("f..."), "U--E");
  EXPECT_EQ(run("f."), "U-");
  condition_.recover_after = 0;
  EXPECT_EQ(run("f."), "UE") << "the latest that fired counts";
}

TEST_F(HysteresisTest, PointsMoveEitherWaySinceTheLastUpdate) {
  lifecycle_ = {.change = Lifecycle::Change::points, .min_change = 5};
  EXPECT_TRUE(update(50));
  EXPECT_FALSE(update(54.9));
  EXPECT_TRUE(update(55));
  EXPECT_FALSE(update(50.1));
  EXPECT_TRUE(update(50));
}

TEST_F(HysteresisTest, ARiseIsUpOnly) {
  lifecycle_ = {.change = Lifecycle::Change::rise, .min_change = 5};
  EXPECT_TRUE(update(10));
  EXPECT_FALSE(update(0));
  EXPECT_TRUE(update(15));
}

TEST_F(HysteresisTest, AFactorIsUpOrDown) {
  lifecycle_ = {.change = Lifecycle::Change::factor, .min_change = 1.5};
  EXPECT_TRUE(update(10));
  EXPECT_FALSE(update(15));
  EXPECT_TRUE(update(16));
  EXPECT_FALSE(update(11));
  EXPECT_TRUE(update(10));
}

TEST_F(HysteresisTest, SeverityAspectAndDoublingAreWorthAnUpdate) {
  lifecycle_ = {.change = Lifecycle::Change::points, .min_change = 5};
  condition_.amount = 100;
  EXPECT_EQ(run("ff"), "U-");
  condition_.severity = Severity::critical;
  EXPECT_EQ(run("ff"), "U-");
  condition_.aspect = 7;
  EXPECT_EQ(run("ff"), "U-");
  condition_.amount = 199;
  EXPECT_EQ(run("f"), "-");
  condition_.amount = 200;
  EXPECT_EQ(run("ff"), "U-");
}

TEST_F(HysteresisTest, SeverityChangesOnceAMinute) {
  using std::chrono::seconds;
  lifecycle_ = {.change = Lifecycle::Change::points, .min_change = 5};
  const auto say = [&](int second, Severity severity) {
    condition_.at = Time{seconds(second)};
    condition_.severity = severity;
    hysteresis_.fires(condition_, lifecycle_);
    return hysteresis_.severity();
  };
  EXPECT_EQ(say(100, Severity::info), Severity::info);
  EXPECT_EQ(say(101, Severity::warning), Severity::warning) << "one that is new comes at once";
  EXPECT_EQ(say(102, Severity::info), Severity::warning);
  EXPECT_EQ(say(160, Severity::info), Severity::warning);
  EXPECT_EQ(say(161, Severity::info), Severity::info);
  EXPECT_EQ(say(162, Severity::warning), Severity::info);
  EXPECT_EQ(say(163, Severity::critical), Severity::critical);
  EXPECT_EQ(say(222, Severity::warning), Severity::critical);
  EXPECT_EQ(say(223, Severity::warning), Severity::warning);
}

TEST_F(HysteresisTest, WhatReplacesAProvisionalOneHasItsOwnSeverity) {
  condition_ = {.severity = Severity::critical, .provisional = true};
  hysteresis_.fires(condition_, lifecycle_);
  condition_ = {.severity = Severity::info};
  hysteresis_.fires(condition_, lifecycle_);
  EXPECT_EQ(hysteresis_.severity(), Severity::info) << "as in a replay, which has no clock";
  condition_.severity = Severity::warning;
  hysteresis_.fires(condition_, lifecycle_);
  EXPECT_EQ(hysteresis_.severity(), Severity::info) << "not twice within a minute";
}

TEST_F(HysteresisTest, GoesOnFromItsState) {
  lifecycle_ = {.recover_after = 3, .change = Lifecycle::Change::points, .min_change = 5};
  EXPECT_EQ(run("ff.."), "U---");
  StateIo saving = StateIo::saving();
  hysteresis_.state(saving);
  const std::string bytes = saving.take();
  hysteresis_ = Hysteresis{};
  StateIo loading = StateIo::loading(bytes);
  hysteresis_.state(loading);
  ASSERT_TRUE(loading.complete());
  EXPECT_EQ(hysteresis_.firings(), 2U);
  EXPECT_EQ(run("."), "E");
}

}  // namespace trainwatch::hysteresis_test
