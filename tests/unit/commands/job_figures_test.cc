// SPDX-License-Identifier: Apache-2.0
// What the report takes out of the analyses' results: nothing may be missing from them unnoticed.
#include "commands/report/job_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/profile/profile_report.h"
#include "support/model_file_system.h"
#include "unit/analysis/analysis_bench.h"

namespace trainwatch::job_figures_test {

using testing::HasSubstr;

Figures empty_result(const std::string& name) {
  test::ModelFileSystem files;
  return name == kPythonProfile ? python_profile(files, {}, {}) : AnalysisBench(name).figures();
}

// The results of a job without events, but for the one of `name`.
Figures results_with(const std::string& name, Figures result) {
  Figures results;
  for (const std::string& one : analyses_in_report())
    results.add(one, one == name ? std::move(result) : empty_result(one));
  return results;
}

std::string refusal(const std::string& name, Figures result) {
  const auto figures = read_job_figures(results_with(name, std::move(result)));
  return figures ? "" : figures.error().message;
}

TEST(JobFigures, AJobWithoutEventsHasNone) {
  const auto figures = read_job_figures(results_with("", {}));
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_FALSE(figures->phases_of_job.job_us);
  EXPECT_EQ(figures->getnext.count, 0);
}

TEST(JobFigures, AMissingResultIsAnError) {
  EXPECT_EQ(read_job_figures({}).error().message, "results.job_statistics is missing");
}

TEST(JobFigures, ARenamedColumnIsAnErrorNotAZero) {
  Figures usage;
  usage.table({"type", "nodeID", "(0, 10)", "(10, 90)", "(90, 101)"});
  EXPECT_EQ(refusal("device_usage_stats", std::move(usage)),
            "results.device_usage_stats.(90, 100) is no column");
}

TEST(JobFigures, ARenamedFieldIsAnErrorNotAZero) {
  Figures calls;
  calls.add("counts", 0);
  EXPECT_EQ(refusal("dataloader_getnext", std::move(calls)),
            "results.dataloader_getnext.count is missing");
}

TEST(JobFigures, AColumnOfAnotherKindIsAnError) {
  Figures usage;
  usage.table({"type", "nodeID", "(0, 10)", "(10, 90)", "(90, 100)"}).row("cpu", 7, 1, 2, 3);
  EXPECT_EQ(refusal("device_usage_stats", std::move(usage)),
            "results.device_usage_stats.nodeID is no text");
  Figures table;
  table.table({"type"});
  EXPECT_THAT(refusal("job_statistics", std::move(table)), HasSubstr("framework is missing"));
}

// Fields whose names are data are there only with data.
TEST(JobFigures, ResultsOfEventsAreRead) {
  AnalysisBench loaders("dataloader_initialization");
  Span loader = loaders.span("DataLoaderIterInitialize", "_MultiProcessing", 0, 2000);
  loader.kind = SpanKind::data_init;
  loader.num_workers = 4;
  loaders.add(loader);
  Figures results;
  for (const std::string& name : analyses_in_report()) {
    const bool seen = name == "dataloader_initialization";
    results.add(name, seen ? loaders.figures() : empty_result(name));
  }
  const auto figures = read_job_figures(results);
  ASSERT_TRUE(figures) << figures.error().message;
  ASSERT_EQ(figures->iterators.size(), 1U);
  EXPECT_EQ(figures->iterators[0].num_workers, 4);
  EXPECT_EQ(figures->iterators[0].initializations.max_us, 2000);
}

TEST(JobFigures, BrokenUtf8InANameIsRepairedAndAGapIsKept) {
  Figures usage;
  usage.table({"type", "nodeID", "(0, 10)", "(10, 90)", "(90, 100)"})
      .row("cpu", "n\xFF", std::optional<int>(), 0.5, 3);
  const auto figures = read_job_figures(results_with("device_usage_stats", std::move(usage)));
  ASSERT_TRUE(figures);
  const DeviceUsageRow& row = figures->device_usage.at(0);
  EXPECT_EQ(row.node, "n\xEF\xBF\xBD");
  EXPECT_FALSE(row.idle);
  EXPECT_EQ(row.used, 0.5);
  EXPECT_EQ(row.full, 3);
}

TEST(JobFigures, EveryAnalysisInTheReportExists) {
  for (const std::string& name : analyses_in_report()) {
    if (name == kPythonProfile) continue;  // of files, not of events
    EXPECT_NE(find_analysis(name), nullptr) << name;
  }
}

}  // namespace trainwatch::job_figures_test
