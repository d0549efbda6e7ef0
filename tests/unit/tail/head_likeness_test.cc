// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/head_likeness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace trainwatch::test::head_likeness_test {

constexpr std::int64_t kSecond = 1'000'000'000;
enum Tag : std::size_t { loss, seconds, other_loss };

HeadContent head(const std::vector<double>& losses, double per_step = 0) {
  HeadContent content;
  content.answer = HeadContent::Answer::yes;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    HeadRecord record;
    record.step = static_cast<std::int64_t>(i + 1) * 10;
    record.values.push_back({loss, losses[i]});
    if (per_step > 0) record.values.push_back({seconds, per_step});
    content.records.push_back(record);
  }
  return content;
}

HeadContent at(HeadContent content, std::int64_t start_seconds) {
  for (HeadRecord& record : content.records) {
    record.timed = true;
    record.at_ns = start_seconds * kSecond + record.step * kSecond;
  }
  return content;
}

TEST(HeadLikeness, ThreeCommonStepsMustAgree) {
  EXPECT_EQ(likeness_of(head({2.5, 2.25, 2.125}), head({2.5, 2.25, 2.125})), Likeness::same);
  EXPECT_EQ(likeness_of(head({2.5, 2.25}), head({2.5, 2.25, 2.125})), Likeness::alike);
  EXPECT_EQ(likeness_of(head({2.5, 2.25, 2.125, 2}), head({2.5, 2.25, 2.125, 1.9})),
            Likeness::different);
  EXPECT_EQ(likeness_of(head({}), head({2.5, 2.25, 2.125})), Likeness::different);
}

TEST(HeadLikeness, ToThePrecisionThatIsPrinted) {
  EXPECT_EQ(likeness_of(head({2.34567, 2.30001, 2.2}), head({2.346, 2.3, 2.2})), Likeness::same);
  EXPECT_EQ(likeness_of(head({2.34567, 2.30001, 2.2}), head({2.346, 2.3, 2.201})),
            Likeness::different);
}

TEST(HeadLikeness, OneLossAgainAndAgainShowsNothing) {
  EXPECT_EQ(likeness_of(head({0, 0, 0, 0}), head({0, 0, 0, 0})), Likeness::alike);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(likeness_of(head({3, 2.5, nan}), head({3, 2.5, nan})), Likeness::same);
  EXPECT_EQ(likeness_of(head({3, 2.5, nan}), head({3, 2.5, 2.4})), Likeness::different);
}

TEST(HeadLikeness, TwoRunsOfOneProgramTakeOtherTimes) {
  EXPECT_EQ(likeness_of(head({2.5, 2.25, 2.125}, 0.512), head({2.5, 2.25, 2.125}, 0.514)),
            Likeness::different);
  EXPECT_EQ(
      likeness_of(at(head({2.5, 2.25, 2.125}), 1'000'000), at(head({2.5, 2.25, 2.125}), 1'000'400)),
      Likeness::different);
  EXPECT_EQ(
      likeness_of(at(head({2.5, 2.25, 2.125}), 1'000'000), at(head({2.5, 2.25, 2.125}), 1'000'001)),
      Likeness::same);
  EXPECT_EQ(likeness_of(at(head({2.5, 2.25, 2.125}), 1'000'000),
                        at(head({2.5, 2.25, 2.125}), 1'000'000 + 7200)),
            Likeness::same)
      << "a time zone";
}

TEST(HeadLikeness, JobsAndRanksAreKeptApart) {
  HeadContent a = head({2.5, 2.25, 2.125});
  HeadContent b = a;
  b.job = "other";
  EXPECT_EQ(likeness_of(a, b), Likeness::different) << "nothing but the losses";
  EXPECT_EQ(likeness_of(at(a, 1'000'000), at(b, 1'000'000)), Likeness::same);
  EXPECT_EQ(likeness_of(at(a, 1'000'000), at(b, 1'007'200)), Likeness::different);
  a.job = "one";
  EXPECT_EQ(likeness_of(at(a, 1'000'000), at(b, 1'000'000)), Likeness::different);
  b.job = "one/more";
  EXPECT_EQ(likeness_of(at(a, 1'000'000), at(b, 1'000'000)), Likeness::same);
  b = a;
  b.rank = 3;
  EXPECT_EQ(likeness_of(a, b), Likeness::different);
}

TEST(HeadLikeness, ValuesMayHaveOtherNames) {
  HeadContent renamed = head({2.5, 2.25, 2.125});
  for (HeadRecord& record : renamed.records) record.values.front().tag = other_loss;
  EXPECT_EQ(likeness_of(head({2.5, 2.25, 2.125}), renamed), Likeness::same);
}

}  // namespace trainwatch::test::head_likeness_test
