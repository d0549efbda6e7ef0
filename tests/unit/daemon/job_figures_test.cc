// The analyses' JSON as values.
#include "daemon/report/job_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/analysis/catalog.h"

namespace trainwatch {
namespace {

using testing::ElementsAre;

TEST(JobFigures, WhatIsNotSaidIsEmpty) {
  const auto figures = read_job_figures("{}");
  ASSERT_TRUE(figures);
  EXPECT_FALSE(figures->phases_of_job.job_us);
  EXPECT_TRUE(figures->timeline.empty());
  EXPECT_EQ(figures->getnext.count, 0);
  // Of another kind, as a later version might write it.
  EXPECT_TRUE(read_job_figures(R"({"heatmap": [], "step_timeline": 3, "batchtime": null})"));
  EXPECT_FALSE(read_job_figures("{"));
}

TEST(JobFigures, TablesKeepNumbersTextsAndGaps) {
  const auto figures = read_job_figures(
      R"json({"device_usage_stats": {"columns": ["type", "(0, 10)"],
                                     "rows": [["cpu", 7], [null]]}})json");
  ASSERT_TRUE(figures);
  const FigureTable& table = figures->device_usage;
  EXPECT_EQ(table.text(0, "type"), "cpu");
  EXPECT_EQ(table.number(0, "(0, 10)"), 7);
  EXPECT_FALSE(table.number(0, "type"));
  EXPECT_FALSE(table.number(1, "(0, 10)"));
  EXPECT_FALSE(table.number(2, "(0, 10)"));
  EXPECT_EQ(table.text(0, "no such column"), "");
}

TEST(JobFigures, TheTimelineIsSplitByRank) {
  const auto figures = read_job_figures(R"({"step_timeline": {
      "columns": ["start_time_us", "duration_us", "step", "phase", "nodeID"], "rows": [
      [1, 10, 0, "EVAL", "b-1"], [2, 20, 0, "TRAIN", "a-0"], [3, 30, 1, "TRAIN", "a-0"]]}})");
  ASSERT_TRUE(figures);
  EXPECT_THAT(figures->phases, ElementsAre("TRAIN", "EVAL"));  // the most frequent first
  ASSERT_EQ(figures->timeline.size(), 2U);
  EXPECT_EQ(figures->timeline[0].rank, "a-0");
  ASSERT_EQ(figures->timeline[0].steps.size(), 2U);
  EXPECT_EQ(figures->timeline[0].steps[1].duration_us, 30);
  EXPECT_EQ(figures->timeline[0].steps[1].phase, 0U);
  EXPECT_EQ(figures->timeline[1].steps[0].phase, 1U);
}

TEST(JobFigures, BrokenUtf8InANameIsRepaired) {
  const auto figures = read_job_figures(
      "{\"heatmap\": {\"width\": 1, \"rows\": [{\"nodeID\": \"n\xFF\", \"values\": [50]}]}}");
  ASSERT_TRUE(figures);
  ASSERT_EQ(figures->heat_map.rows.size(), 1U);
  EXPECT_EQ(figures->heat_map.rows[0].node, "n\xEF\xBF\xBD");
  EXPECT_THAT(figures->heat_map.rows[0].percent, ElementsAre(50));
}

TEST(JobFigures, GroupsAreNamedByWhatAndWhere) {
  EXPECT_EQ(group_name("GPUUtilization-nodeid:algo-1").what, "GPUUtilization");
  EXPECT_EQ(group_name("GPUUtilization-nodeid:algo-1").where, "algo-1");
  EXPECT_EQ(group_name("-nodeid:algo-1").what, "");
  EXPECT_EQ(group_name("none").what, "none");
}

TEST(JobFigures, EveryAnalysisInTheReportExists) {
  for (const std::string& name : analyses_in_report()) {
    if (name == "python_profile") continue;  // of files, not of events
    bool found = false;
    for (const AnalysisSpec* spec : analysis_catalog()) found = found || spec->name == name;
    EXPECT_TRUE(found) << name;
  }
}

}  // namespace
}  // namespace trainwatch
