// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/step_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainwatch::step_feed_test {

using testing::HasSubstr;
using testing::StartsWith;

Step step(std::int64_t number) {
  Step step;
  step.start = Time{std::chrono::seconds(1000 + number)};
  step.begin = step.start - std::chrono::milliseconds(250);
  step.duration = std::chrono::milliseconds(250);
  step.data_wait = std::chrono::milliseconds(50);
  step.number = number;
  step.mode = Mode::train;
  return step;
}

TEST(StepFeed, SaysWhatIsKnownOfAStep) {
  Interner interner;
  StepFeed feed;
  Step known = step(7);
  known.subject = interner.subjects.intern({"job", "algo-1", 3, ""}).value();
  feed.add(known);
  Step other = step(kNoStep);
  other.origin = Origin::profiler;
  other.mode = Mode::unknown;
  feed.add(other);
  const auto taken = feed.take(interner);
  EXPECT_EQ(taken.steps, 2U);
  EXPECT_EQ(taken.dropped, 0U);
  EXPECT_EQ(taken.json,
            R"({"steps":[{"job":"job","node":"algo-1","rank":3,"step":7,"mode":"train",)"
            R"("origin":"timeline","started_at":"1970-01-01T00:16:47.000000Z",)"
            R"("iteration_seconds":0.5,"duration_seconds":0.25,)"
            R"("data_wait_seconds":0.05},{"step":null,"mode":"unknown","origin":"profiler",)"
            R"("started_at":"1970-01-01T00:16:39.000000Z",)"
            R"("iteration_seconds":0.5,"duration_seconds":0.25,)"
            R"("data_wait_seconds":0.05}]})");
}

TEST(StepFeed, KeepsTheNewestAndCountsTheRest) {
  const Interner interner;
  StepFeed feed;
  constexpr auto kMost = static_cast<std::int64_t>(StepFeed::kMaxSteps);
  for (std::int64_t number = 0; number < kMost + 3; ++number) feed.add(step(number));
  const auto taken = feed.take(interner);
  EXPECT_EQ(taken.steps, StepFeed::kMaxSteps);
  EXPECT_EQ(taken.dropped, 3U);
  EXPECT_THAT(taken.json, StartsWith(R"({"steps":[{"step":3,)"));
  EXPECT_THAT(taken.json, HasSubstr(R"("step":)" + std::to_string(kMost + 2) + ","));
  const auto nothing = feed.take(interner);
  EXPECT_EQ(nothing.steps + nothing.dropped, 0U);
}

}  // namespace trainwatch::step_feed_test
