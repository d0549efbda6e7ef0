// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/checkpoint_history.h"

#include <gtest/gtest.h>

#include "tests/support/saved_state.h"

namespace trainwatch::checkpoint_history_test {

Time at(std::int64_t seconds) {
  return Time{std::chrono::seconds(seconds)};
}

class CheckpointHistoryTest : public testing::Test {
 protected:
  Step iteration(std::int64_t from, std::int64_t to) const {
    Step step;
    step.subject = rank_;
    step.mode = Mode::train;
    step.begin = at(from);
    step.start = at(to - 1);
    step.duration = std::chrono::seconds(1);
    return step;
  }
  void written(const std::string& directory, Time created, std::int64_t seconds) {
    history_.on({directory, created, at(seconds)});
  }

  Interner interner_;
  const SubjectId rank_ = interner_.subjects.intern({"job", "algo-1", 0, ""}).value();
  CheckpointHistory history_{interner_};
};

TEST_F(CheckpointHistoryTest, ANewFileTookFromItsCreationToItsLastWrite) {
  written("job/checkpoints", at(103), 107);
  const auto span = history_.during(iteration(100, 110));
  ASSERT_TRUE(span);
  EXPECT_EQ(span->kind, SpanKind::checkpoint);
  EXPECT_EQ(span->start, at(103));
  EXPECT_EQ(span->end(), at(107));
  EXPECT_EQ(span->subject, rank_);
  EXPECT_FALSE(history_.during(iteration(110, 111)));
}

TEST_F(CheckpointHistoryTest, SeveralFilesAreOneCheckpoint) {
  written("job", at(102), 103);
  written("job", at(103), 106);
  const auto span = history_.during(iteration(100, 110));
  ASSERT_TRUE(span);
  EXPECT_EQ(span->start, at(102));
  EXPECT_EQ(span->end(), at(106));
}

TEST_F(CheckpointHistoryTest, AnOldFileThatIsWrittenOverTookFromTheStepBefore) {
  written("job", at(5), 107);
  EXPECT_EQ(history_.during(iteration(100, 110))->start, at(100));
  written("job", kNoTime, 127);
  EXPECT_EQ(history_.during(iteration(120, 130))->start, at(120));
}

TEST_F(CheckpointHistoryTest, ACopyIsYoungerThanItsContent) {
  written("job", at(900), 107);
  EXPECT_EQ(history_.during(iteration(100, 110))->start, at(100));
}

TEST_F(CheckpointHistoryTest, AFileThatGrowsIsOneWrite) {
  for (const std::int64_t second : {103, 104, 105, 105}) written("job", at(102), second);
  const auto span = history_.during(iteration(100, 110));
  EXPECT_EQ(span->start, at(102));
  EXPECT_EQ(span->end(), at(105));
  EXPECT_FALSE(history_.during(iteration(99, 104)));
}

TEST_F(CheckpointHistoryTest, OtherJobsAndEvaluationsHaveNone) {
  written("job2", at(103), 107);
  written("", at(103), 107);
  EXPECT_FALSE(history_.during(iteration(100, 110)));
  written("job", at(103), 107);
  Step step = iteration(100, 110);
  step.mode = Mode::eval;
  EXPECT_FALSE(history_.during(step));
}

TEST_F(CheckpointHistoryTest, TheLatestWrite) {
  written("job/a", at(103), 107);
  written("job/b", at(103), 109);
  EXPECT_EQ(history_.latest(rank_, at(100), at(110)), at(109));
  EXPECT_EQ(history_.latest(rank_, at(100), at(108)), at(107));
  EXPECT_EQ(history_.latest(rank_, at(109), at(120)), kNoTime);
}

TEST_F(CheckpointHistoryTest, IsBoundedAndSurvives) {
  for (std::int64_t i = 0; i < 5000; ++i) written("job", at(100 * i), 100 * i);
  EXPECT_EQ(history_.latest(rank_, at(-1), at(0)), kNoTime);
  const std::string saved = test::saved_state(history_);
  CheckpointHistory loaded(interner_);
  ASSERT_TRUE(test::load_state(saved, loaded));
  EXPECT_EQ(loaded.latest(rank_, at(0), at(500'000)), at(499'900));
  EXPECT_EQ(test::saved_state(loaded), saved);
}

}  // namespace trainwatch::checkpoint_history_test
