// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "daemon/app/analysis_source.h"
#include "pipeline/analysis/catalog.h"

namespace trainwatch::analysis_answer_test {

class AnalysisAnswerTest : public testing::Test {
 protected:
  void see(const std::string& job) {
    Span step;
    step.kind = SpanKind::step;
    step.subject = interner_.subjects.intern({job, "algo-1", 0, ""}).value();
    const Event event = step;
    host_.push({&event, 1});
  }
  int status(const std::string& name, std::optional<std::string> job = {}) {
    return answer_analysis(host_, {name, std::move(job)}).status;
  }

  Interner interner_;
  AnalysisHost host_{{find_analysis("step_timeline")}, interner_};
};

TEST_F(AnalysisAnswerTest, OneJobNeedsNoName) {
  EXPECT_EQ(status("step_timeline"), 200) << "nothing seen yet is no mistake";
  see("a");
  EXPECT_EQ(status("step_timeline"), 200);
  EXPECT_EQ(status("step_timeline", "a"), 200);
}

TEST_F(AnalysisAnswerTest, SeveralJobsNeedOne) {
  see("a");
  see("b");
  EXPECT_EQ(status("step_timeline"), 400);
  EXPECT_EQ(status("step_timeline", "b"), 200);
}

TEST_F(AnalysisAnswerTest, AJobThatOnlyLogsHasEmptyResults) {
  see("a");
  see("b");
  const HttpResponse answer = answer_analysis(host_, {"step_timeline", "logs"}, {"a", "logs"});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, answer_analysis(AnalysisHost{{find_analysis("step_timeline")}, interner_},
                                         {"step_timeline", std::nullopt})
                             .body);
}

TEST_F(AnalysisAnswerTest, WhatIsNotThereIsNotFound) {
  see("a");
  EXPECT_EQ(status("step_timeline", "b"), 404);
  EXPECT_EQ(status("heatmap"), 404) << "it does not run";
}

}  // namespace trainwatch::analysis_answer_test
