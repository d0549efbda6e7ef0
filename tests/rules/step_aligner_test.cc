// SPDX-License-Identifier: Apache-2.0
// Steps of a job are the same in whatever order the cycles of its ranks come.
#include "rules/step_aligner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace trainwatch {
namespace {

class StepAlignerTest : public testing::Test {
 protected:
  SubjectId rank(std::int32_t number) {
    return interner_.subjects.intern({"", "node", number, ""}).value();
  }
  // Steps first..last of a rank; a step lasts a millisecond for each of its rank's number.
  CycleSummary cycle(std::int32_t number, std::int64_t first, std::int64_t last,
                     std::int64_t world = 0) {
    CycleSummary made;
    made.subject = rank(number);
    made.activities = 1;
    made.world_size = world;
    for (std::int64_t step = first; step <= last; ++step) {
      made.steps.push_back({.number = step, .duration_ns = 1'000'000 * (number + 1)});
    }
    return made;
  }
  void push(StepAligner& steps, const CycleSummary& summary) { note(steps.add(summary)); }
  void tick(StepAligner& steps, std::int64_t second) {
    note(steps.tick(time_from_ns(second * 1'000'000'000)));
  }
  void end(StepAligner& steps) { note(steps.end()); }
  // What came out since the last call: "7:012 8:01", the ranks of each step.
  std::string taken() { return std::exchange(taken_, {}); }
  StepAligner fresh() const { return StepAligner(interner_, StepAligner::Collectives::kept); }

  Interner interner_;

 private:
  void note(const std::vector<JobStep>& steps) {
    for (const JobStep& step : steps) {
      if (!taken_.empty()) taken_ += " ";
      if (step.restarts) taken_ += "again ";
      taken_ += std::to_string(step.ranks.front().step.number) + ":";
      for (const RankStep& part : step.ranks) {
        const std::int32_t number = interner_.subjects[part.rank].rank;
        EXPECT_EQ(part.step.duration_ns, 1'000'000 * (number + 1));
        taken_ += std::to_string(number);
      }
    }
  }

  std::string taken_;
};

TEST_F(StepAlignerTest, AStepIsCompleteWhenAllRanksHaveIt) {
  StepAligner steps = fresh();
  push(steps, cycle(1, 5, 6, 3));
  push(steps, cycle(2, 5, 6, 3));
  EXPECT_EQ(taken(), "");
  push(steps, cycle(0, 5, 6, 3));
  EXPECT_EQ(taken(), "5:012 6:012");
  end(steps);
  EXPECT_EQ(taken(), "");
}

TEST_F(StepAlignerTest, AnyOrderOfCyclesGivesTheSameSteps) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const std::int64_t world = seed % 2 == 0 ? 4 : 0;
    std::vector<std::vector<CycleSummary>> waiting(4);
    for (std::int32_t number = 0; number < 4; ++number) {
      for (const std::int64_t first : {20, 10, 0}) {
        waiting[static_cast<std::size_t>(number)].push_back(cycle(number, first, first + 2, world));
      }
    }
    StepAligner steps = fresh();
    while (std::ranges::any_of(waiting, [](const auto& left) { return !left.empty(); })) {
      std::vector<CycleSummary>& next = waiting[random() % 4];
      if (next.empty()) continue;
      push(steps, next.back());
      next.pop_back();
    }
    end(steps);
    EXPECT_EQ(taken(), "0:0123 1:0123 2:0123 10:0123 11:0123 12:0123 20:0123 21:0123 22:0123")
        << seed;
  }
}

TEST_F(StepAlignerTest, TheOldestIsCompleteAMinuteAfterTheLastCycle) {
  StepAligner steps = fresh();
  push(steps, cycle(0, 5, 5, 3));
  tick(steps, 100);
  push(steps, cycle(1, 5, 5, 3));
  tick(steps, 159);
  tick(steps, 218);
  EXPECT_EQ(taken(), "");
  tick(steps, 219);
  EXPECT_EQ(taken(), "5:01");
  push(steps, cycle(2, 5, 5, 3));  // too late
  tick(steps, 500);
  tick(steps, 560);
  EXPECT_EQ(taken(), "5:2");
}

TEST_F(StepAlignerTest, WithACompleteStepTheEarlierOnesAreComplete) {
  StepAligner steps = fresh();
  push(steps, cycle(0, 5, 8, 2));
  push(steps, cycle(1, 7, 8, 2));  // joined late
  EXPECT_EQ(taken(), "5:0 6:0 7:01 8:01");
}

TEST_F(StepAlignerTest, ARankThatRepeatsAStepBeginsAnew) {
  StepAligner steps = fresh();
  push(steps, cycle(0, 5, 6, 2));
  push(steps, cycle(0, 5, 5, 2));
  EXPECT_EQ(taken(), "5:0 6:0");
  push(steps, cycle(1, 5, 5, 2));
  EXPECT_EQ(taken(), "again 5:01");
}

TEST_F(StepAlignerTest, AStepAfterARestartSaysSo) {
  StepAligner steps = fresh();
  push(steps, cycle(0, 5, 6, 2));
  push(steps, cycle(1, 5, 6, 2));
  push(steps, cycle(0, 2, 3, 2));
  EXPECT_EQ(taken(), "5:01 6:01");
  push(steps, cycle(1, 2, 3, 2));
  EXPECT_EQ(taken(), "again 2:01 3:01");
}

TEST_F(StepAlignerTest, NoMoreArePendingThanTheBound) {
  StepAligner steps = fresh();
  const auto most = static_cast<std::int64_t>(StepAligner::kMostPending);
  push(steps, cycle(0, 1, most));
  EXPECT_EQ(taken(), "");
  push(steps, cycle(0, most + 1, most + 2));
  EXPECT_EQ(taken(), "1:0 2:0");
}

TEST_F(StepAlignerTest, SaysWhatACycleLacks) {
  StepAligner steps = fresh();
  EXPECT_TRUE(steps.missing().empty());
  CycleSummary idle = cycle(0, 1, 2, 1);
  idle.activities = 0;
  push(steps, idle);
  EXPECT_EQ(taken(), "");
  EXPECT_EQ(steps.missing(), std::vector<std::string_view>{"gpu activity"});
  push(steps, cycle(0, kNoStep, kNoStep, 1));
  EXPECT_EQ(steps.missing(), std::vector<std::string_view>{"steps"});
  push(steps, cycle(0, 1, 2, 1));
  EXPECT_EQ(taken(), "1:0 2:0");
  EXPECT_TRUE(steps.missing().empty());
}

TEST_F(StepAlignerTest, GoesOnFromItsState) {
  StepAligner steps = fresh();
  push(steps, cycle(0, 5, 6, 2));
  tick(steps, 100);
  StateIo saving = StateIo::saving();
  steps.state(saving);
  const std::string bytes = saving.take();
  StepAligner loaded = fresh();
  StateIo loading = StateIo::loading(bytes);
  loaded.state(loading);
  ASSERT_TRUE(loading.complete());
  push(loaded, cycle(1, 5, 5, 2));
  EXPECT_EQ(taken(), "5:01");
  tick(loaded, 110);
  tick(loaded, 170);
  EXPECT_EQ(taken(), "6:0");
}

}  // namespace
}  // namespace trainwatch
