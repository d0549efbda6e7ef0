// SPDX-License-Identifier: Apache-2.0
// The pauses of other ranks.
#include "pipeline/analysis/core/job_pauses.h"

#include <gtest/gtest.h>

namespace trainwatch::job_pauses_test {

using std::chrono::seconds;

class JobPausesTest : public testing::Test {
 protected:
  SubjectId rank(int number, const char* job = "j") {
    return *interner_.subjects.intern({job, "n", number, ""});
  }
  static Time at(int second) { return Time{} + seconds(1000 + second); }
  Span mark(SubjectId of, int from, int length) {
    Span span;
    span.subject = of;
    span.kind = SpanKind::evaluation;
    span.start = at(from);
    span.duration = seconds(length);
    return span;
  }
  void read(SubjectId of, int second) {
    Span step = mark(of, second - 1, 1);
    step.kind = SpanKind::step;
    step.step = second;
    iterations_.on(step);
  }
  Interner interner_;
  IterationTracker iterations_;
  JobPauses pauses_{interner_, iterations_};
};

TEST_F(JobPausesTest, CountsWhatOthersOfTheJobDid) {
  pauses_.on(mark(rank(0), 10, 5));
  pauses_.paused(rank(0), at(10), at(14));
  EXPECT_EQ(pauses_.of_others(rank(1), at(0), at(13)), seconds(3)) << "once";
  EXPECT_EQ(pauses_.of_others(rank(0), at(0), at(20)), Nanos{});
  EXPECT_EQ(pauses_.of_others(rank(1, "other"), at(0), at(20)), Nanos{});
}

TEST_F(JobPausesTest, HasPassedOnceAllRanksWereRead) {
  const SubjectId first = rank(0);
  const SubjectId second = rank(1);
  EXPECT_TRUE(pauses_.knows_all(first, 2));
  EXPECT_FALSE(pauses_.knows_all(first, 3));
  read(first, 20);
  EXPECT_FALSE(pauses_.passed(first, at(10))) << "nothing of the other was read";
  read(second, 12);
  EXPECT_TRUE(pauses_.passed(first, at(10)));
  EXPECT_FALSE(pauses_.passed(first, at(13)));
  EXPECT_TRUE(pauses_.knows_all(rank(0, "alone"), 0));
}

}  // namespace trainwatch::job_pauses_test
