// SPDX-License-Identifier: Apache-2.0
// What the clock says of runs: L10, L11 and L15, and processes that vanish.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "pipeline/engine/engine.h"
#include "pipeline/engine/run_headlines.h"
#include "rules/catalog.h"

namespace trainwatch::clock_test {

using std::chrono::hours;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr Time kBegin{hours(490'000)};

class ClockTest : public testing::Test {
 protected:
  SubjectId rank(const std::string& job, std::int32_t number = 0) {
    return engine_.interner().subjects.intern({job, "a", number, ""}).value();
  }
  // Steps of a second each, from `begin` on.
  void steps(SubjectId rank, Time begin, int count, std::int64_t from = 0) {
    for (int i = 0; i < count; ++i) {
      Span span;
      span.kind = SpanKind::step;
      span.mode = Mode::train;
      span.subject = rank;
      span.start = begin + seconds(i);
      span.duration = seconds(1);
      span.step = from + i;
      span.process = 7;
      push(span);
    }
  }
  void close(SubjectId rank, Time at) {
    push(SourceNote{at, LaneId{}, SourceNote::Kind::timeline_closed, rank});
  }
  void push(const Event& event) { engine_.push(std::span(&event, 1)); }
  void ticks(Time from, int count) {
    for (int i = 0; i < count; ++i) engine_.tick(from + seconds(i));
  }
  SubjectId job_of(SubjectId rank) {
    const Subject job = project(engine_.interner().subjects[rank], Scope::job);
    return engine_.interner().subjects.find(job);
  }
  Life run(SubjectId rank) { return engine_.ledger().life(job_of(rank)); }
  bool is_over(SubjectId rank) {
    return engine_.ledger().runs().at(job_of(rank)).ended().has_value();
  }
  std::string headline(SubjectId rank) {
    return shown_runs(engine_).at(job_of(rank)).headline.text;
  }
  std::size_t stalls() { return engine_.take_emitted().size(); }

  Engine engine_{{RuleConfig(*find_rule("stall"))}};
};

// What a stall has cost is up to the clock, whatever other jobs do.
TEST_F(ClockTest, L10AStallCostsUpToTheClock) {
  const SubjectId hung = rank("hung");
  const SubjectId other = rank("other");
  steps(hung, kBegin, 100);
  steps(other, kBegin, 50);  // its events come late
  ticks(kBegin + seconds(100), 120);
  ASSERT_EQ(run(hung).state, LifeState::stalled);
  EXPECT_THAT(headline(hung), HasSubstr("; 119 s lost so far"));
  EXPECT_NEAR(run(hung).parts[LifePart::stalled], 118, 0.1);
  steps(other, kBegin + hours(2), 1, 50);  // or its clock is ahead
  EXPECT_THAT(headline(hung), HasSubstr("; 119 s lost so far"));
  EXPECT_NEAR(run(hung).parts[LifePart::stalled], 118, 0.1);
}

TEST_F(ClockTest, L10AnotherJobMakesNoStall) {
  steps(rank("early"), kBegin, 100);
  steps(rank("late"), kBegin + hours(3), 100);
  engine_.end_of_input();
  EXPECT_EQ(stalls(), 0U);
}

TEST_F(ClockTest, L10ARankThatFallsSilentBesideOthersStandsStill) {
  steps(rank("job", 0), kBegin, 100);
  steps(rank("job", 1), kBegin, 400);
  engine_.end_of_input();
  EXPECT_EQ(stalls(), 1U);
}

TEST_F(ClockTest, L11FilesOfLastYearAreOverAtOnce) {
  const SubjectId old = rank("old");
  steps(old, kBegin, 100);
  const Time now = kBegin + hours(24 * 365);
  ticks(now, 1);
  engine_.tick(now);
  engine_.tick(now);
  EXPECT_FALSE(is_over(old)) << "more of it may still be read: the clock stands";
  ticks(now + seconds(1), 1);
  ASSERT_TRUE(is_over(old));
  EXPECT_EQ(run(old).state, LifeState::gone);
  EXPECT_EQ(run(old).until, kBegin + seconds(100));
  ticks(now + seconds(2), 100);
  EXPECT_EQ(stalls(), 0U);
}

TEST_F(ClockTest, L11AGapOfMoreThanADayIsAnEnd) {
  const SubjectId job = rank("job");
  steps(job, kBegin, 100);
  steps(job, kBegin + hours(24 * 365), 100, 100);
  engine_.end_of_input();
  EXPECT_EQ(stalls(), 0U);
}

TEST_F(ClockTest, L11AfterADayAStallIsAnEnd) {
  const SubjectId job = rank("job");
  steps(job, kBegin, 100);
  ticks(kBegin + seconds(100), 120);
  EXPECT_EQ(run(job).state, LifeState::stalled);
  ticks(kBegin + seconds(102) + hours(24), 1);
  EXPECT_EQ(run(job).state, LifeState::gone);
  EXPECT_EQ(engine_.book().firing(), 0U);
}

TEST_F(ClockTest, L15AClosedTimelineOfTwoMonthsAgoIsFinished) {
  const SubjectId job = rank("job");
  steps(job, kBegin, 100);
  close(job, kBegin + seconds(100));
  ticks(kBegin + hours(24 * 60), 3);
  EXPECT_EQ(run(job).state, LifeState::finished);
  EXPECT_EQ(stalls(), 0U);
}

TEST_F(ClockTest, WhatVanishesIsGoneWithinFiveSecondsAndDoesNotHang) {
  const SubjectId job = rank("job");
  steps(job, kBegin, 100);
  ticks(kBegin + seconds(100), 2);
  engine_.writer_gone(engine_.writers().at(0));
  ticks(kBegin + seconds(102), 3);
  EXPECT_EQ(run(job).state, LifeState::gone);
  ticks(kBegin + seconds(105), 600);
  EXPECT_EQ(stalls(), 0U);
}

// The others wait for it, and stand still; it does not.
TEST_F(ClockTest, OneThatVanishesAmongOthersDoesNotHang) {
  const SubjectId lost = rank("job", 0);
  const SubjectId waits = rank("job", 1);
  steps(lost, kBegin, 100);
  steps(waits, kBegin, 100);
  ticks(kBegin + seconds(100), 2);
  engine_.writer_gone({lost, 7});
  ticks(kBegin + seconds(102), 600);
  EXPECT_EQ(run(lost).state, LifeState::stalled);
  for (const Alert& alert : engine_.take_emitted()) EXPECT_EQ(alert.subject.rank, 1);
}

TEST_F(ClockTest, TimesOfJobsAreSaved) {
  steps(rank("early"), kBegin, 100);
  steps(rank("late"), kBegin + hours(3), 100);
  StateRows changes;
  engine_.save(changes, true);
  StoredRows rows;
  for (const auto& [key, value] : changes.changed()) {
    if (value) rows.emplace(key, *value);
  }
  Engine resumed({RuleConfig(*find_rule("stall"))});
  ASSERT_TRUE(resumed.load(rows));
  EXPECT_EQ(resumed.latest(rank("early")), kBegin + seconds(100));
  resumed.end_of_input();
  EXPECT_TRUE(resumed.take_emitted().empty());
}

}  // namespace trainwatch::clock_test
