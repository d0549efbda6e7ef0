// SPDX-License-Identifier: Apache-2.0
// How much work an iteration has, by what is logged.
#include "pipeline/analysis/core/work_meter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trainwatch::work_meter_test {

double record(WorkMeter& meter, ScalarKind kind, double value, double seconds) {
  Scalar scalar;
  scalar.kind = kind;
  scalar.value = value;
  meter.on(scalar);
  return meter.end_record(seconds, 1);
}
// So many records of about a second.
double seconds_of(int i) {
  return 1 + 0.03 * std::sin(i * 1.3);
}

TEST(WorkMeter, SizesAreWork) {
  WorkMeter meter;
  for (int i = 0; i < 60; ++i) record(meter, ScalarKind::step_tokens, 4096, seconds_of(i));
  EXPECT_NEAR(record(meter, ScalarKind::step_tokens, 8192, 2), 2, 0.01);
}

TEST(WorkMeter, ASizeThatGrowsFromTheBeginningIsCounted) {
  WorkMeter meter;
  double work = 0;
  for (int i = 1; i <= 60; ++i) {
    work = record(meter, ScalarKind::step_tokens, 4096.0 * i, seconds_of(i));
  }
  EXPECT_NEAR(work, 1, 0.01);
  EXPECT_NEAR(record(meter, ScalarKind::step_tokens, 4096.0 * 62, 2), 2, 0.02);
}

TEST(WorkMeter, ARateIsWorkIfItFollowsTheTimes) {
  WorkMeter meter;
  for (int i = 0; i < 60; ++i) {
    record(meter, ScalarKind::tokens_per_second, 4096 / seconds_of(i), seconds_of(i));
  }
  EXPECT_NEAR(record(meter, ScalarKind::tokens_per_second, 4096, 2), 2, 0.05) << "twice the work";
  EXPECT_NEAR(record(meter, ScalarKind::tokens_per_second, 2048, 2), 1, 0.05) << "it is slower";
}

TEST(WorkMeter, AMeanSinceTheBeginningIsNone) {
  WorkMeter meter;
  for (int i = 0; i < 60; ++i) {
    Scalar rate;
    rate.kind = ScalarKind::samples_per_second;
    rate.value = 64;
    rate.guessed = true;
    meter.on(rate);
    meter.end_record(seconds_of(i), 1);
  }
  EXPECT_EQ(record(meter, ScalarKind::samples_per_second, 63, 2), 1);
}

TEST(WorkMeter, ARateOfAnEvaluationSaysNothing) {
  WorkMeter meter;
  for (int i = 0; i < 60; ++i) {
    record(meter, ScalarKind::tokens_per_second, 4096 / seconds_of(i), seconds_of(i));
  }
  record(meter, ScalarKind::validation_loss, 2, 1);
  Scalar loss;
  loss.kind = ScalarKind::validation_loss;
  loss.value = 2;
  meter.on(loss);
  EXPECT_EQ(record(meter, ScalarKind::tokens_per_second, 4096, 2), 1);
}

}  // namespace trainwatch::work_meter_test
