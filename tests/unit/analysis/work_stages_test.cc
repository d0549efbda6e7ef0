// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/work_stages.h"

#include <gtest/gtest.h>

namespace trainwatch::work_stages_test {

bool log(WorkStages& stages, double value, std::uint32_t tag = 1, int second = 0) {
  Scalar scalar;
  scalar.at = Time{std::chrono::seconds(second)};
  scalar.kind = ScalarKind::step_size;
  scalar.tag = static_cast<Symbol>(tag);
  scalar.value = value;
  return stages.on(scalar);
}

TEST(WorkStages, AnotherConstantSizeIsAStage) {
  WorkStages stages;
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(log(stages, 64));
  EXPECT_TRUE(log(stages, 128));
  EXPECT_DOUBLE_EQ(stages.change().ratio, 2);
  EXPECT_FALSE(stages.change().begins) << "it may be one batch";
  EXPECT_FALSE(log(stages, 128));
  EXPECT_TRUE(log(stages, 128));
  EXPECT_TRUE(stages.change().begins);
  EXPECT_DOUBLE_EQ(stages.change().ratio, 1);
  EXPECT_FALSE(log(stages, 128) && stages.change().begins);
}

TEST(WorkStages, ItIsKnownWhenTheSizeChanged) {
  WorkStages stages;
  for (int i = 0; i < 20; ++i) log(stages, 64, 1, i);
  for (int i = 20; i < 23; ++i) {
    EXPECT_EQ(log(stages, 128, 1, i), i != 21);
    EXPECT_EQ(stages.change().before, Time{std::chrono::seconds(19)});
    EXPECT_EQ(stages.change().first, Time{std::chrono::seconds(20)});
  }
}

TEST(WorkStages, TheLastBatchOfAnEpochIsNone) {
  WorkStages stages;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (int i = 0; i < 20; ++i) {
      log(stages, 64);
      EXPECT_FALSE(stages.change().begins);
      EXPECT_DOUBLE_EQ(stages.change().ratio, 1);
    }
    log(stages, 16);
    EXPECT_FALSE(stages.change().begins);
    EXPECT_DOUBLE_EQ(stages.change().ratio, 0.25);
  }
}

TEST(WorkStages, SizesThatVaryWithEachBatchHaveNone) {
  WorkStages stages;
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(log(stages, 1000 + 97 * (i * 7 % 11)));
}

TEST(WorkStages, FiguresOfDifferentTagsMultiply) {
  WorkStages stages;
  for (int i = 0; i < 20; ++i) {
    log(stages, 64, 1);
    log(stages, 1024, 2);
  }
  log(stages, 128, 1);
  log(stages, 2048, 2);
  EXPECT_DOUBLE_EQ(stages.change().ratio, 4);
}

TEST(WorkStages, StateSurvives) {
  WorkStages stages;
  for (int i = 0; i < 20; ++i) log(stages, 64);
  log(stages, 128);
  StateIo out = StateIo::saving();
  stages.state(out);
  const std::string bytes = out.take();
  WorkStages restored;
  StateIo in = StateIo::loading(bytes);
  restored.state(in);
  ASSERT_TRUE(in.complete());
  EXPECT_DOUBLE_EQ(restored.change().ratio, 2);
  log(restored, 128);
  log(restored, 128);
  EXPECT_TRUE(restored.change().begins);
}

}  // namespace trainwatch::work_stages_test
