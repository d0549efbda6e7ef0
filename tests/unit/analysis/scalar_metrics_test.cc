// SPDX-License-Identifier: Apache-2.0
// The gauges of what a job logs: one for each subject and tag, within the caps.
#include "pipeline/analysis/core/scalar_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace trainwatch::scalar_metrics_test {

class ScalarMetricsTest : public testing::Test {
 protected:
  Scalar scalar(const std::string& tag, double value, ScalarKind kind = ScalarKind::other,
                std::int32_t rank = 0) {
    Scalar made;
    made.subject = interner_.subjects.intern({"job", "", rank, ""}).value();
    made.tag = interner_.symbols.intern(tag);
    made.value = value;
    made.kind = kind;
    return made;
  }
  static std::vector<MetricPoint> points(const ScalarMetrics& metrics,
                                         Cardinality cardinality = Cardinality::normal) {
    std::vector<MetricFamily> families;
    metrics.collect({cardinality}, families);
    EXPECT_EQ(families.size(), 1U);
    EXPECT_EQ(families.at(0).name, "trainwatch_scalar");
    return families.at(0).points;
  }

  Interner interner_;
  ScalarMetrics metrics_{interner_};
};

TEST_F(ScalarMetricsTest, TheLatestValueOfEachTagAndRank) {
  metrics_.on(scalar("loss", 2, ScalarKind::loss));
  metrics_.on(scalar("loss", 1.5, ScalarKind::loss));
  metrics_.on(scalar("loss", 3, ScalarKind::loss, 1));
  metrics_.on(scalar("acc", std::numeric_limits<double>::quiet_NaN()));
  const auto shown = points(metrics_);
  ASSERT_EQ(shown.size(), 3U);
  EXPECT_EQ(shown[0].value, 1.5);
  EXPECT_TRUE(std::isnan(shown[1].value));
  EXPECT_EQ(shown[2].value, 3);
  EXPECT_EQ(points(metrics_, Cardinality::low).size(), 2U);  // without "acc"
}

TEST_F(ScalarMetricsTest, NoMoreTagsThanHaveRoomAndTheOthersAreCountedOnce) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100; ++i) metrics_.on(scalar("tag" + std::to_string(i), i));
  }
  EXPECT_EQ(points(metrics_).size(), ScalarMetrics::kMostTags);
  EXPECT_EQ(metrics_.series_dropped(), 100 - ScalarMetrics::kMostTags);
  for (int rank = 1; rank < 40; ++rank) {
    for (int i = 0; i < 64; ++i) metrics_.on(scalar(std::to_string(i), 1, ScalarKind::other, rank));
  }
  EXPECT_EQ(points(metrics_).size(), kMaxSeries);
}

TEST_F(ScalarMetricsTest, SavedAndLoaded) {
  metrics_.on(scalar("loss", 2, ScalarKind::loss));
  EXPECT_TRUE(metrics_.take_changed());
  EXPECT_FALSE(metrics_.take_changed());
  StateIo saving = StateIo::saving();
  metrics_.state(saving);
  const std::string bytes = saving.take();
  ScalarMetrics loaded(interner_);
  StateIo loading = StateIo::loading(bytes);
  loaded.state(loading);
  EXPECT_TRUE(loading.complete());
  ASSERT_EQ(points(loaded).size(), 1U);
  EXPECT_EQ(points(loaded)[0].value, 2);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ScalarMetrics cut(interner_);
    StateIo io = StateIo::loading(std::string_view(bytes).substr(0, size));
    cut.state(io);
    EXPECT_FALSE(io.complete()) << size;
  }
}

}  // namespace trainwatch::scalar_metrics_test
