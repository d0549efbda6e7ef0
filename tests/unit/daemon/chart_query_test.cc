// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/chart_query.h"

#include <gtest/gtest.h>

#include "daemon/app/chart_source.h"
#include "daemon/app/job_choice.h"
#include "daemon/net/url.h"

namespace trainwatch::chart_query_test {

ChartQuery parsed(std::string_view path, std::string_view query) {
  const auto result = parse_chart_query(path, query);
  EXPECT_TRUE(result) << query;
  return result ? *result : ChartQuery{};
}

bool refused(std::string_view path, std::string_view query) {
  return !parse_chart_query(path, query);
}

TEST(ChartQueryTest, WithoutParametersItIsTheWholeJob) {
  const ChartQuery query = parsed("/api/v1/steps", "");
  EXPECT_EQ(query.view, ChartView::steps);
  EXPECT_FALSE(query.job);
  EXPECT_EQ(query.range.from, Time{});
  EXPECT_EQ(query.range.to, Time::max());
  EXPECT_EQ(parsed("/api/v1/heatmap", "").view, ChartView::usage_map);
  EXPECT_EQ(parsed("/api/v1/histogram", "").view, ChartView::step_histogram);
}

TEST(ChartQueryTest, ParametersChooseWhatIsShown) {
  const ChartQuery query = parsed("/api/v1/steps", "job=a%2Fb&start=1000&end=5000&columns=20");
  EXPECT_EQ(query.job, "a/b");
  EXPECT_EQ(query.range.from, Time{std::chrono::milliseconds(1)});
  EXPECT_EQ(query.range.to, Time{std::chrono::milliseconds(5)});
  EXPECT_EQ(query.range.columns, 20);
  EXPECT_EQ(query.range.attempt, 0);
  EXPECT_EQ(parsed("/api/v1/steps", "attempt=2").range.attempt, 2);
  EXPECT_EQ(parsed("/api/v1/heatmap", "what=ranks").view, ChartView::rank_map);
  EXPECT_EQ(parsed("/api/v1/histogram", "what=utilization").view, ChartView::usage_histogram);
  EXPECT_EQ(parsed("/api/v1/steps", "last=5").last, 5);
  EXPECT_EQ(parsed("/api/v1/steps", "last=5").view, ChartView::last_steps);
}

TEST(ChartQueryTest, MuchIsBounded) {
  EXPECT_EQ(parsed("/api/v1/steps", "columns=1000000").range.columns, ChartRange::kMostColumns);
  EXPECT_EQ(parsed("/api/v1/steps", "last=99999999").last, 10'000);
}

TEST(ChartQueryTest, WhatIsNotUnderstoodIsRefused) {
  for (const char* query :
       {"columns=0", "columns=x", "columns=-1", "start=1.5", "start=", "last=0", "what=ranks",
        "colums=5", "start=9&end=9", "end=0", "%zz", "start=9223372036854775808"}) {
    EXPECT_TRUE(refused("/api/v1/steps", query)) << query;
  }
  EXPECT_TRUE(refused("/api/v1/heatmap", "what=steps"));
  EXPECT_TRUE(refused("/api/v1/heatmap", "last=5"));
  EXPECT_TRUE(refused("/api/v1/histogram", "what=ranks"));
}

TEST(ChartQueryTest, Scalars) {
  EXPECT_EQ(parsed("/api/v1/scalars", "").view, ChartView::scalars);
  const ChartQuery query = parsed("/api/v1/scalars", "job=a&tag=train%2Floss&tag=lr&last=7");
  EXPECT_EQ(query.job, "a");
  EXPECT_EQ(query.tags, (std::vector<std::string>{"train/loss", "lr"}));
  EXPECT_EQ(query.last, 7);
  for (const char* wrong : {"last=0", "last=-1", "last=x", "tag=", "what=steps", "columns=5",
                            "start=1", "attempt=1", "tags=loss", "%zz"}) {
    EXPECT_TRUE(refused("/api/v1/scalars", wrong)) << wrong;
  }
  EXPECT_TRUE(refused("/api/v1/steps", "tag=loss"));
  EXPECT_EQ(parse_chart_query("/api/v1/scalars", "last=0").error().message,
            invalid_parameter("last").message);
}

class ChartSourceTest : public testing::Test {
 protected:
  Step step(const std::string& job) {
    Step made;
    made.subject = interner.subjects.intern({job, "algo-1", 0, ""}).value();
    made.mode = Mode::train;
    made.begin = Time{std::chrono::seconds(100)};
    made.start = made.begin;
    made.duration = std::chrono::seconds(1);
    return made;
  }

  Interner interner;
  History history{interner};
};

TEST_F(ChartSourceTest, SeveralJobsNeedOne) {
  const auto see = [&](const std::string& job) { history.on(step(job)); };
  EXPECT_EQ(answer_chart(history, {}, {}).status, 200) << "nothing seen yet is no mistake";
  see("a");
  EXPECT_EQ(answer_chart(history, {}, {}).status, 200);
  see("b");
  EXPECT_EQ(answer_chart(history, {}, {}).status, 400);
  EXPECT_EQ(answer_chart(history, {}, {.job = "c"}).status, 404);
  for (const ChartView view :
       {ChartView::steps, ChartView::last_steps, ChartView::rank_map, ChartView::usage_map,
        ChartView::step_histogram, ChartView::usage_histogram, ChartView::scalars}) {
    const HttpResponse response = answer_chart(history, {}, {.view = view, .job = "b", .last = 3});
    EXPECT_EQ(response.status, 200);
    EXPECT_TRUE(response.body.starts_with(R"({"job":"b",)")) << response.body;
  }
}

TEST_F(ChartSourceTest, StepsThatMayHaveNoWaitsAreShownBeforeTheyAreComplete) {
  const Step lossy = step("b");
  const std::vector<Step> more{step("a"), lossy, lossy};
  EXPECT_EQ(answer_chart(history, more, {}).status, 400);
  const ChartQuery queries[] = {{.view = ChartView::last_steps, .job = "b", .last = 3},
                                {.view = ChartView::steps, .job = "b"}};
  std::string bodies[2];
  for (std::size_t i = 0; i < 2; ++i) bodies[i] = answer_chart(history, more, queries[i]).body;
  history.on(lossy);
  history.on(lossy);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(bodies[i], answer_chart(history, {}, queries[i]).body);
}

}  // namespace trainwatch::chart_query_test
