// SPDX-License-Identifier: Apache-2.0
// Which events get through the timestamp filter: those that fit their lane, and those that enough
// others agree with.
#include "pipeline/timestamps/timestamp_filter.h"

#include <gmock/gmock.h>

#include <random>

#include "unit/timestamps/timestamp_filter_fixture.h"

namespace trainwatch::timestamp_filter_test {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr double kYear = 366 * 86400.0;
using enum RejectReason;

std::vector<double> joined(std::vector<double> first, const std::vector<double>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

class TimestampFilterTest : public FilterTest {};

TEST_F(TimestampFilterTest, AnOrderedLanePassesAtOnceFromItsSecondEventOn) {
  feed(sample(0));
  EXPECT_THAT(passed(), IsEmpty()) << "nothing to compare it with";
  feed(sample(1));
  EXPECT_EQ(passed(), seconds(0, 2));
  for (int second = 2; second < 100; ++second) {
    feed(sample(second));
    ASSERT_THAT(passed(), SizeIs(second + 1));
  }
  EXPECT_THAT(rejected_events_, IsEmpty());
}

TEST_F(TimestampFilterTest, APoisonedTimeIsRejectedAndHarmsNothing) {
  feed_seconds(0, 50);
  for (const double poison : {166 * kYear, 3600.0, 601 + 49.0, -3600.0, 49 - 61.0, -kYear}) {
    feed(sample(poison));
  }
  EXPECT_THAT(passed(), SizeIs(50)) << "not yet known which are right";
  feed_seconds(50, 60);
  EXPECT_EQ(passed(), seconds(0, 60));
  EXPECT_THAT(refusals(), ElementsAre(Pair(ts_future, 3), Pair(ts_past, 3)));
}

TEST_F(TimestampFilterTest, OnePoisonedRecordInAHundredChangesNothing) {
  std::mt19937_64 random(20261121);
  std::uniform_real_distribution<double> anywhere(-50 * kYear, 166 * kYear);
  int poisons = 0;
  for (int second = 0; second < 10000; ++second) {
    feed(sample(second, second));
    if (random() % 100 != 0) continue;
    feed(sample(anywhere(random)));
    ++poisons;
  }
  EXPECT_EQ(passed(), seconds(0, 10000));
  EXPECT_THAT(rejected_events_, SizeIs(poisons));
}

TEST_F(TimestampFilterTest, APoisonedFirstEventDoesNotGetThrough) {
  std::uint32_t lane = 10;
  for (const double poison : {160 * kYear, -50 * kYear, 7000.0}) {
    EventBatch batch{sample(poison), sample(0), sample(1)};
    filter_->filter(LaneId{lane++}, batch, rejected_events_);
    EXPECT_THAT(texts(batch), ElementsAre(text(sample(0)), text(sample(1)))) << poison;
  }
  EXPECT_THAT(refusals(), ElementsAre(Pair(ts_future, 2), Pair(ts_past, 1)));
}

TEST_F(TimestampFilterTest, APauseIsAcceptedWithTheEighthEvent) {
  feed_seconds(0, 10);
  feed_seconds(4000, 4007);
  EXPECT_EQ(passed(), seconds(0, 10));
  feed_seconds(4007, 4008);
  EXPECT_EQ(passed(), joined(seconds(0, 10), seconds(4000, 4008)));
  feed_seconds(4008, 4020);
  EXPECT_EQ(passed(), joined(seconds(0, 10), seconds(4000, 4020)));
  EXPECT_THAT(rejected_events_, IsEmpty());
}

TEST_F(TimestampFilterTest, PoisonDuringAPauseIsStillRejected) {
  feed_seconds(0, 10);
  for (int second = 4000; second < 4008; ++second) {
    feed(sample(second));
    if (second % 3 == 0) feed(sample((second - 3990) * kYear));
    if (second == 4004) feed(sample(-kYear));
  }
  EXPECT_EQ(passed(), joined(seconds(0, 10), seconds(4000, 4008)));
  EXPECT_THAT(refusals(), ElementsAre(Pair(ts_future, 2), Pair(ts_past, 1)));
}

TEST_F(TimestampFilterTest, AClockSetBackIsAcceptedWithTheEighthEvent) {
  feed_seconds(5000, 5010);
  feed_seconds(100, 107);
  EXPECT_EQ(passed(), seconds(5000, 5010));
  feed_seconds(107, 120);
  EXPECT_EQ(passed(), joined(seconds(5000, 5010), seconds(100, 120)));
  EXPECT_THAT(rejected_events_, IsEmpty());
}

TEST_F(TimestampFilterTest, AFewLateEventsAreCountedAndNotApplied) {
  feed_seconds(5000, 5010);
  feed_seconds(100, 107);
  feed_seconds(5010, 5011);
  EXPECT_EQ(passed(), seconds(5000, 5011));
  EXPECT_THAT(refusals(), ElementsAre(Pair(ts_past, 7)));
}

TEST_F(TimestampFilterTest, TheLastEventsAfterAPauseAreNotLost) {
  feed_seconds(0, 10);
  feed_seconds(4000, 4003);
  end_of_file();
  EXPECT_EQ(passed(), joined(seconds(0, 10), seconds(4000, 4003)));
  EXPECT_THAT(rejected_events_, IsEmpty());
}

TEST_F(TimestampFilterTest, ASingleOddEventAtTheEndWaitsForTheNextFile) {
  feed_seconds(0, 10);
  feed(sample(160 * kYear));
  end_of_file();
  feed_seconds(10, 20);
  EXPECT_EQ(passed(), seconds(0, 20));
  feed(sample(160 * kYear));
  end_of_input();
  EXPECT_EQ(passed(), seconds(0, 20));
  EXPECT_THAT(refusals(), ElementsAre(Pair(ts_future, 2)));
}

TEST_F(TimestampFilterTest, SmallInputsComeThrough) {
  feed(sample(0));
  end_of_file();
  EXPECT_EQ(passed(), seconds(0, 1));
  feed(sample(4000));  // a file with this event alone, after a pause
  end_of_file();
  EXPECT_EQ(passed(), (std::vector<double>{0, 4000}));
}

TEST_F(TimestampFilterTest, EventsThatAreRarerThanTheLimitComeThrough) {
  std::vector<double> rare;
  for (int i = 0; i < 40; ++i) rare.push_back(i * 1200 + (i % 5) * 60);
  for (const double second : rare) feed(span(second, 1));
  end_of_input();
  EXPECT_EQ(passed(), rare);
  EXPECT_THAT(rejected_events_, IsEmpty());
}

TEST_F(TimestampFilterTest, ACompleteProfilerCycleIsAFileOfItsOwn) {
  feed_seconds(0, 10);
  for (int cycle = 1; cycle < 5; ++cycle) {
    for (int i = 0; i < 3; ++i) feed(step(cycle * 3600 + i, 0.9, i));
    feed(SourceNote{at_second(cycle * 3600 + 3), kLane, SourceNote::Kind::cycle_complete});
    ASSERT_THAT(passed_, SizeIs(10 + cycle * 4));
    ASSERT_TRUE(std::holds_alternative<SourceNote>(passed_.back())) << "after its spans";
  }
  EXPECT_THAT(rejected_events_, IsEmpty());
}

TEST_F(TimestampFilterTest, ALongSpanExplainsItsOwnJumpAndIsNotLate) {
  feed(step(0, 1, 0));
  feed(step(1, 1800, 1));  // written at its end, 30 min later
  feed(step(1801, 1, 2));
  feed(step(0.5, 1802, 3));  // began long ago
  EXPECT_EQ(passed(), (std::vector<double>{0, 1, 1801, 0.5}));
  feed(step(1802, 250 * kYear, 4));
  EXPECT_THAT(refusals(), ElementsAre(Pair(ts_future, 1))) << "it ends nowhere";
}

TEST_F(TimestampFilterTest, ImplausibleTimesAreRejectedAtOnce) {
  const Time most{Nanos::max()};
  Span endless = span(0, 1);
  endless.duration = Nanos::max();
  Span backwards = span(0, 1);
  backwards.duration = Nanos::min();
  for (const Event& implausible_event : std::initializer_list<Event>{
           Sample{most, 1, SeriesId{0}, Resource::other},
           Sample{kNoTime, 1, SeriesId{0}, Resource::other},
           Sample{Time{Nanos{-1}}, 1, SeriesId{0}, Resource::other}, endless}) {
    feed(implausible_event);
  }
  EXPECT_THAT(refusals(), ElementsAre(Pair(ts_future, 2), Pair(ts_past, 2)));
  feed(backwards);
  feed(span(1, 1));
  EXPECT_EQ(passed(), seconds(0, 2));
  feed(SourceNote{most, kLane, {}});
  EXPECT_THAT(passed_, SizeIs(3)) << "a note is no record of the lane";
}

TEST_F(TimestampFilterTest, ARewrittenFileIsReadOnceUpToWhereItWas) {
  feed_seconds(0, 100);
  filter_->reread(kLane);
  feed_seconds(0, 100);
  feed(sample(-kYear));
  EXPECT_EQ(passed(), seconds(0, 100));
  EXPECT_THAT(refusals(), ElementsAre(Pair(duplicate, 101)));
  feed_seconds(100, 120);
  EXPECT_EQ(passed(), seconds(0, 120));
  feed(sample(110.5));
  EXPECT_THAT(passed_, SizeIs(121)) << "disorder as ever";
}

// Case 13: of a record that was edited, everything but the time may differ.
TEST_F(TimestampFilterTest, AnEditedRecordDoesNotMakeTheOthersNew) {
  for (int number = 0; number < 200; ++number) feed(step(number, 0.9, number));
  filter_->reread(kLane);
  for (int number = 0; number < 200; ++number) {
    const bool edited = number % 20 == 10 && number < 139;
    feed(step(number, edited ? 500 : 0.9, number));
  }
  EXPECT_EQ(passed(), seconds(0, 200));
  EXPECT_THAT(refusals(), ElementsAre(Pair(duplicate, 200)));
  feed(step(200, 0.9, 200));
  EXPECT_EQ(passed(), seconds(0, 201));
}

// A step may be written behind its parts, and before its wait.
TEST_F(TimestampFilterTest, ASpanThatEnclosesTheLastOneReadIsNew) {
  for (int number = 0; number < 100; ++number) {
    feed(span(number + 0.2, 0.5));
    if (number < 99) feed(step(number, 0.9, number));
  }
  filter_->reread(kLane);
  for (int number = 0; number < 100; ++number) {
    feed(span(number + 0.2, 0.5));
    feed(step(number, 0.9, number));
  }
  EXPECT_THAT(passed_, SizeIs(200));
  EXPECT_EQ(text(passed_.back()), text(step(99, 0.9, 99)));
  EXPECT_THAT(refusals(), ElementsAre(Pair(duplicate, 199)));
}

TEST_F(TimestampFilterTest, TheSameRecordTwiceCountsOnce) {
  for (int second = 0; second < 50; ++second) {
    for (std::uint32_t series = 0; series < 3; ++series) {
      feed(sample(second, 7, series));
      feed(sample(second, 7, series));
    }
    if (second % 5 == 4) {
      for (int old = second - 4; old <= second; ++old) feed(sample(old, 7, 1));
    }
  }
  EXPECT_THAT(passed_, SizeIs(150));
  EXPECT_THAT(refusals(), ElementsAre(Pair(duplicate, 200)));
  feed(sample(49, 8, 2));
  EXPECT_THAT(passed_, SizeIs(151)) << "another value";
}

TEST_F(TimestampFilterTest, StepsAndWaitsTwiceCountOnceButRepeatedWorkCounts) {
  for (int number = 0; number < 60; ++number) {
    feed(span(number, 0.1, SpanKind::data_wait));
    feed(step(number, 0.9, number));
  }
  for (int number = 30; number < 60; ++number) feed(step(number, 0.9, number));
  feed(span(59, 0.1, SpanKind::data_wait));
  EXPECT_THAT(passed_, SizeIs(120));
  EXPECT_THAT(refusals(), ElementsAre(Pair(duplicate, 31)));
  // The job went on from a checkpoint: the same numbers, later.
  for (int number = 30; number < 90; ++number) feed(step(number + 70, 0.9, number));
  EXPECT_THAT(passed_, SizeIs(180));
  // Two kernels on two streams are equal in all that a span says.
  feed(span(160, 0.1, SpanKind::kernel));
  feed(span(160, 0.1, SpanKind::kernel));
  EXPECT_THAT(passed_, SizeIs(182));
}

TEST_F(TimestampFilterTest, LanesKnowNothingOfEachOther) {
  EventBatch early{sample(0), sample(1)};
  EventBatch late{sample(90000), sample(90001)};
  filter_->filter(LaneId{1}, early, rejected_events_);
  filter_->filter(LaneId{2}, late, rejected_events_);
  EXPECT_THAT(early, SizeIs(2));
  EXPECT_THAT(late, SizeIs(2));
  StateRows rows;
  filter_->save(rows, false);
  EXPECT_THAT(rows.changed(), SizeIs(4)) << "each lane and its samples";
  StateRows more;
  filter_->save(more, false);
  EXPECT_THAT(more.changed(), IsEmpty());
}

}  // namespace trainwatch::timestamp_filter_test
