// SPDX-License-Identifier: Apache-2.0
// Which alerts the sentence speaks of, and which of them says why.
#include <gmock/gmock.h>

#include "tests/unit/engine/headline_fixture.h"

namespace trainwatch::headline_reasons_test {

using namespace headline_fixture;
using std::chrono::seconds;
using testing::HasSubstr;

class HeadlineReasonsTest : public HeadlineFixture {};

TEST_F(HeadlineReasonsTest, TheMostExpensiveSpeaksAndOthersAreCounted) {
  Alert cheap = alert(CauseName::input_wait, 10);
  Alert dear = alert(CauseName::compute_growth, 600);
  Alert part = alert(CauseName::checkpoint, 900);
  part.incident = dear.id;
  fires(cheap, kInputBound);
  fires(part, kSpike);
  fires(dear, kRegression);
  EXPECT_THAT(text(), HasSubstr("every step computes longer than before on rank 3"));
  EXPECT_THAT(text(), HasSubstr("; and 1 more alert."));
  given_.firing = {{&part, &kSpike}};
  EXPECT_THAT(text(), HasSubstr("a checkpoint held up a step")) << "none speaks";
}

TEST_F(HeadlineReasonsTest, WhoIsWaitedForIsNamed) {
  Alert waits = alert(CauseName::communication, 600);
  waits.ranks = "0-3";
  Alert works = alert(CauseName::compute_growth, 500);
  works.incident = waits.id;
  works.subject.rank = 1;
  fires(waits, kRegression);
  fires(works, kRegression);
  EXPECT_THAT(text(), HasSubstr("since {since} ({for}) the other ranks wait for rank 1, which is "
                                "computing longer than before: 26 % of the time is lost, 80 GPU "
                                "minutes so far; 4.2 steps/s."));
  Alert other = works;
  other.subject.rank = 2;
  fires(other, kRegression);
  EXPECT_THAT(text(), HasSubstr("every step waits for communication between ranks on ranks 0-3"))
      << "it is not one";
}

TEST_F(HeadlineReasonsTest, WhatStillFiresSpeaksForAnIncidentWhoseVoiceIsOver) {
  std::vector<Alert> parts;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    parts.push_back(alert(CauseName::unattributed, 600));
    parts.back().incident = "a stall that is over";
    parts.back().subject.rank = rank;
  }
  Alert other = alert(CauseName::input_wait, 10);
  for (const Alert& part : parts) fires(part, kRegression);
  fires(other, kInputBound);
  EXPECT_THAT(text(), HasSubstr("training has become slower and stays so on ranks 0-3, and the "
                                "cause is not known: 26 % of the time is lost, 80 GPU minutes"));
  EXPECT_THAT(text(), HasSubstr("; and 1 more alert."));
  parts[2].verdict.cause.name = CauseName::host_pause;
  EXPECT_THAT(text(), HasSubstr("the host holds up every step on ranks 0-3")) << "one knows";
}

TEST_F(HeadlineReasonsTest, RanksThatAreDelayedCountWithTheOneThatIsOver) {
  Alert stall = alert(CauseName::unattributed, 1.2);
  stall.subject.rank = 3;
  stall.verdict.since = stall.verdict.window_start = now_ - seconds(2);
  Alert delayed = stall;
  delayed.id = "delayed";
  delayed.subject.rank = 5;
  delayed.incident = stall.incident = stall.id;
  fires(delayed, kSpike);
  is_over(stall, kSpike, now_ - seconds(1));
  EXPECT_THAT(text(), HasSubstr("a step took far longer than the others on ranks 3,5"));
}

TEST_F(HeadlineReasonsTest, WhoKnowsWhyOneStepWasSlowSaysIt) {
  run_.life.state = LifeState::running;
  Alert stall = alert(CauseName::unattributed, 35);
  stall.verdict.since = stall.verdict.window_start = now_ - seconds(60);
  stall.ranks = "0-1";
  Alert pause = stall;
  pause.id = "pause";
  pause.incident = stall.incident = stall.id;
  pause.ranks = "";
  pause.verdict.cause.name = CauseName::host_pause;
  is_over(stall, kStall, now_ - seconds(25));
  is_over(pause, kStall, now_ - seconds(25));
  EXPECT_THAT(text(), HasSubstr("training stood still for 35 s, held up by the host on ranks 0-1: "
                                "4.7 GPU minutes lost."));
}

TEST_F(HeadlineReasonsTest, APartThatKnowsWhySaysIt) {
  Alert slower = alert(CauseName::unattributed, 0.6 * 38 * 60);
  slower.ranks = "0-1";
  Alert waits = alert(CauseName::input_wait, 0.5 * 38 * 60);
  waits.incident = slower.id;
  waits.subject.rank = 0;
  Alert also = waits;
  also.id = "also";
  also.subject.rank = 1;
  fires(slower, kRegression);
  fires(waits, kInputBound);
  fires(also, kInputBound);
  EXPECT_THAT(text(), HasSubstr("every step waits for data on ranks 0-1: 60 % of the time is lost, "
                                "3.0 GPU hours so far; 4.2"));
  also.incident = "of another incident";
  EXPECT_THAT(text(), HasSubstr("every step waits for data on ranks 0-1: 60 %"))
      << "it opened again, after the incident";
  given_.firing.pop_back();
  EXPECT_THAT(text(),
              HasSubstr("the other ranks wait for rank 0, which is waiting for data: 60 %"));
  slower.ranks = "";
  slower.subject.rank = 0;
  EXPECT_THAT(text(), HasSubstr("every step waits for data on rank 0: 60 %"));
  waits.verdict.lost_seconds = 60;
  EXPECT_THAT(text(), HasSubstr("training has become slower and stays so on rank 0, and the cause "
                                "is not known"))
      << "it explains little";
}

TEST_F(HeadlineReasonsTest, WhoAloneKnowsWhyIsWaitedFor) {
  Alert works = alert(CauseName::compute_growth, 600);
  works.ranks = "2-3";
  Alert waits = alert(CauseName::unattributed, 600);
  waits.subject.rank = 2;
  waits.incident = works.id;
  fires(works, kRegression);
  fires(waits, kRegression);
  EXPECT_THAT(text(), HasSubstr("the other ranks wait for rank 3, which is computing longer than "
                                "before: 26 %"));
  works.verdict.cause.name = CauseName::host_pause;
  EXPECT_THAT(text(), HasSubstr("the host holds up every step on ranks 2-3"))
      << "of a rank that waits no phase is long either";
  waits.verdict.cause.name = works.verdict.cause.name = CauseName::compute_growth;
  EXPECT_THAT(text(), HasSubstr("every step computes longer than before on ranks 2-3"));
}

TEST_F(HeadlineReasonsTest, WhoIsWaitedForNeedNotBeWarnedOf) {
  Alert slower = alert(CauseName::unattributed, 600);
  slower.ranks = "0-3";
  Alert works = alert(CauseName::compute_growth, 500);
  works.incident = slower.id;
  works.subject.rank = 1;
  fires(slower, kRegression);
  given_.info.push_back({&works, &kRegression});
  EXPECT_THAT(text(), HasSubstr("the other ranks wait for rank 1, which is computing longer than "
                                "before: 26 %"));
}

}  // namespace trainwatch::headline_reasons_test
