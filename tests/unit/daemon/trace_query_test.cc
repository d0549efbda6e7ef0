// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/trace_query.h"

#include <gtest/gtest.h>

namespace trainwatch::trace_query_test {

TEST(TraceQueryTest, ReadsItsParameters) {
  const auto query = parse_trace_query("/api/v1/timeline", "start=10&end=20&unit=step&job=a");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->view, TraceView::timeline);
  EXPECT_EQ(query->unit, TraceQuery::Unit::step);
  EXPECT_EQ(query->start, 10);
  EXPECT_EQ(query->end, 20);
  EXPECT_EQ(query->job, "a");
  EXPECT_EQ(parse_trace_query("/api/v1/annotations", "start=1")->view, TraceView::annotations);
}

TEST(TraceQueryTest, RefusesWhatItDoesNotKnow) {
  for (const char* query : {"start=x", "start=-1", "start=99999999999999999999", "unit=hour", "x=1",
                            "start=20&end=10", "start=10&end=10", "%zz"})
    EXPECT_FALSE(parse_trace_query("/api/v1/timeline", query)) << query;
  EXPECT_FALSE(parse_trace_query("/api/v1/annotations", "unit=step"));
  EXPECT_FALSE(parse_trace_query("/api/v1/alerts/0a/trace", "start=1"));
}

TEST(TraceQueryTest, AnAlertIsNamedByItsId) {
  EXPECT_EQ(parse_trace_query("/api/v1/alerts/0af3/trace", "")->alert, "0af3");
  for (const char* path :
       {"/api/v1/alerts/", "/api/v1/alerts/trace", "/api/v1/alerts//trace", "/api/v1/alerts/0af3",
        "/api/v1/alerts/../trace", "/api/v1/alerts/0af3/trace/", "/api/v1/alerts/0AF3/trace",
        "/api/v1/alerts/a/b/trace"})
    EXPECT_EQ(parse_trace_query(path, "")->alert, "") << path;
}

}  // namespace trainwatch::trace_query_test
