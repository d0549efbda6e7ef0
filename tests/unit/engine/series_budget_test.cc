// SPDX-License-Identifier: Apache-2.0
// The page of metrics stays within its limits, and what it leaves out is summed or counted.
#include "pipeline/engine/series_budget.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainwatch::series_budget_test {

MetricFamily steps(int ranks, MetricType type = MetricType::counter) {
  MetricFamily family{"trainwatch_steps_total", "Steps.", type, {}, {}};
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string mode = rank % 2 == 0 ? "train" : "eval";
    family.points.push_back({{{"rank", std::to_string(rank)}, {"mode", mode}}, 1, {}, 0});
  }
  return family;
}

double total(const MetricFamily& family) {
  double sum = 0;
  for (const MetricPoint& point : family.points) sum += point.value;
  return sum;
}

TEST(SeriesBudget, WhatHasNoRoomInItsFamilyIsSummedByItsOtherLabels) {
  SeriesBudget budget(MetricsConfig{});
  std::vector<MetricFamily> families = {steps(static_cast<int>(kMaxSeries) + 5)};
  budget.apply(families);
  const MetricFamily& family = families.at(0);
  ASSERT_EQ(family.points.size(), kMaxSeries + 2);
  EXPECT_EQ(family.points[kMaxSeries].labels,
            (Labels{{"train_job", "__other__"}, {"mode", "eval"}}));
  EXPECT_EQ(total(family), static_cast<double>(kMaxSeries) + 5) << "nothing is lost";
  EXPECT_EQ(budget.left_out(), 5U);
}

TEST(SeriesBudget, GaugesHaveNoSum) {
  SeriesBudget budget(MetricsConfig{});
  std::vector<MetricFamily> families = {steps(2010, MetricType::gauge)};
  budget.apply(families);
  EXPECT_EQ(families.at(0).points.size(), kMaxSeries);
  EXPECT_EQ(budget.left_out(), 10U);
}

TEST(SeriesBudget, HistogramsAreAddedUp) {
  SeriesBudget budget({Cardinality::normal, 1000});
  MetricFamily family{"trainwatch_step_duration_seconds", "Steps.", MetricType::histogram, {1}, {}};
  for (int rank = 0; rank < 600; ++rank) {
    auto details = std::make_shared<MetricDetails>();
    details->schema = rank % 2 == 0 ? 4 : 3;
    details->cells = {{1, static_cast<std::int16_t>(rank % 2 == 0 ? 3 : 2), 0}};
    family.points.push_back({{{"rank", std::to_string(rank)}}, 0, std::move(details), 0.5});
  }
  std::vector<MetricFamily> families = {family};
  budget.apply(families);
  const auto& points = families.at(0).points;
  ASSERT_EQ(points.size(), 251U) << "four lines each";
  ASSERT_EQ(points.back().details->cells.size(), 1U);
  EXPECT_EQ(points.back().details->schema, 3) << "that of the coarsest";
  EXPECT_EQ(points.back().details->cells[0].count, 350U);
  EXPECT_EQ(points.back().sum, 175);
}

TEST(SeriesBudget, ManyFamiliesShareThePageAndNoSumFallsLater) {
  SeriesBudget budget({Cardinality::normal, 1000});
  std::vector<MetricFamily> families(10, steps(600));
  families.push_back(steps(3));
  budget.apply(families);
  EXPECT_EQ(families.back().points.size(), 3U) << "small ones stay whole";
  EXPECT_EQ(families.front().points.size(), 99U + 2U);
  std::vector<MetricFamily> fewer = {steps(600)};
  budget.apply(fewer);
  EXPECT_EQ(fewer.front().points.size(), 99U + 2U) << "or counters would seem to begin again";
}

TEST(SeriesBudget, LowHasNoPhases) {
  SeriesBudget budget({Cardinality::low, 100'000});
  std::vector<MetricFamily> families = {steps(1), steps(1)};
  families[1].name = "trainwatch_step_phase_seconds";
  budget.apply(families);
  ASSERT_EQ(families.size(), 1U);
  EXPECT_EQ(families[0].name, "trainwatch_steps_total");
}

}  // namespace trainwatch::series_budget_test
