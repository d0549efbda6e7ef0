// SPDX-License-Identifier: Apache-2.0
#include "pipeline/profile/profile_name.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace trainwatch::profile_name_test {

const std::string kProfiler = "/opt/ml/output/profiler/framework/pytorch/cprofile/";

std::optional<ProfileName> parsed(const std::string& ends, const std::string& file) {
  return parse_profile_path(kProfiler + "0-algo-1/" + ends + "/" + file);
}

TEST(ProfileName, ModeStepPhaseAndTimeOfBothEnds) {
  const auto name =
      parsed("train-4-stepstart-1596585374963238.0_train-5-forwardpassend-1596585376008161.25",
             "python_stats");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->profiler, PythonProfiler::cprofile);
  EXPECT_EQ(name->framework, "pytorch");
  EXPECT_EQ(name->node, "algo-1");
  EXPECT_EQ(name->rank, 0);
  EXPECT_EQ(name->start.mode, ProfileMode::train);
  EXPECT_EQ(name->start.step, 4);
  EXPECT_EQ(name->start.phase, ProfilePhase::step_start);
  EXPECT_EQ(to_ns(name->start.at), 1596585374963238000);
  EXPECT_EQ(name->end.mode, ProfileMode::train);
  EXPECT_EQ(name->end.step, 5);
  EXPECT_EQ(name->end.phase, ProfilePhase::forward_pass_end);
  EXPECT_EQ(to_ns(name->end.at), 1596585376008161250);
}

TEST(ProfileName, StepsMayBeOpen) {
  const auto name = parsed("prestepzero-*-start-1.0_posthookclose-*-end-2.0", "python_stats");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->start.mode, ProfileMode::pre_step_zero);
  EXPECT_EQ(name->start.step, std::nullopt);
  EXPECT_EQ(name->start.phase, ProfilePhase::start);
  EXPECT_EQ(name->end.mode, ProfileMode::post_hook_close);
  EXPECT_EQ(name->end.step, std::nullopt);
  EXPECT_EQ(name->end.phase, ProfilePhase::end);
}

TEST(ProfileName, TheFileNamesTheProfiler) {
  const std::string ends = "eval-0-stepend-1.0_global-7-stepstart-2.0";
  const auto name = parsed(ends, "python_stats.json");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->profiler, PythonProfiler::pyinstrument);
  EXPECT_FALSE(parsed(ends, "python_stats.html"));
  EXPECT_FALSE(parsed(ends, "python_stats.json.tmp"));
  EXPECT_TRUE(is_profile_file("python_stats"));
  EXPECT_TRUE(is_profile_file("python_stats.json"));
  EXPECT_FALSE(is_profile_file("python_stats.html"));
}

TEST(ProfileName, WritersAreNamedAsInTimelines) {
  const std::string ends = "/predict-0-stepstart-1.0_predict-0-stepend-2.0/python_stats";
  EXPECT_EQ(parse_profile_path(kProfiler + "3-my-host" + ends)->node, "my-host");
  EXPECT_EQ(parse_profile_path(kProfiler + "3-my-host" + ends)->rank, 3);
  EXPECT_EQ(parse_profile_path(kProfiler + "19952-vm" + ends)->rank, kNoRank);
  EXPECT_EQ(parse_profile_path("." + ends)->framework, "");
}

// smdebug's own sample data has these.
TEST(ProfileName, OlderNames) {
  const std::string base = "framework/tensorflow/cProfile/";
  const auto step =
      parse_profile_path(base + "1596585374963238.0_1596585376008161.0_151-algo-1_2/python_stats");
  ASSERT_TRUE(step);
  EXPECT_EQ(step->framework, "tensorflow");
  EXPECT_EQ(step->node, "algo-1");
  EXPECT_EQ(step->rank, 151);
  EXPECT_EQ(step->start.mode, ProfileMode::unknown);
  EXPECT_EQ(step->start.step, 2);
  EXPECT_EQ(step->start.phase, ProfilePhase::step_start);
  EXPECT_EQ(step->end.phase, ProfilePhase::step_end);
  EXPECT_EQ(to_ns(step->end.at), 1596585376008161000);

  const auto before =
      parse_profile_path(base + "1596585363775342.0_1596585373504789.0_151-algo-1_-1/python_stats");
  ASSERT_TRUE(before);
  EXPECT_EQ(before->start.mode, ProfileMode::pre_step_zero);
  EXPECT_EQ(before->start.step, std::nullopt);
  EXPECT_EQ(before->end.step, 0);
  EXPECT_EQ(before->end.phase, ProfilePhase::step_start);
}

TEST(ProfileName, OtherNamesAreNone) {
  for (const char* ends :
       {"", "train-4-stepstart-1.0", "train-4-stepstart-1.0_train-4-stepend-2.0_x",
        "train-4-stepstart_train-4-stepend", "train-x-stepstart-1.0_train-4-stepend-2.0",
        "train--4-stepstart-1.0_train-4-stepend-2.0", "train-4-step-1.0_train-4-stepend-2.0",
        "unknown-4-stepstart-1.0_train-4-stepend-2.0", "train-4-stepstart-x_train-4-stepend-2.0",
        "train-4-stepstart-1.0_train-4-stepend-", "1.0_2.0_0-algo-1_x", "1.0_2.0_0-algo-1_-2",
        "1.0_x_0-algo-1_2", "_", "___"}) {
    EXPECT_FALSE(parsed(ends, "python_stats")) << ends;
  }
  EXPECT_FALSE(parse_profile_path(""));
  EXPECT_FALSE(parse_profile_path("python_stats"));
  EXPECT_FALSE(parse_profile_path("/"));
}

}  // namespace trainwatch::profile_name_test
