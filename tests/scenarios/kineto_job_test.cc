// SPDX-License-Identifier: Apache-2.0
// A generated PyTorch job of two ranks whose data loader stalls in every tenth step, as profiler
// traces: both rules about single steps find it on each rank, with step, baseline and cause, and
// two others that the stalls are a sixth of the time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/source_path.h"
#include "support/temp_directory.h"
#include "support/watcher.h"

namespace trainwatch::kineto_job_test {

using namespace test;

TEST(KinetoJob, AStalledLoaderIsFoundOnEachRank) {
  TempDirectory dir;
  const std::string command = "/usr/bin/python3 " + source_path("tests/support/kineto_gen.py") +
                              " --out " + dir.path() +
                              " --scenario input_spike --ranks 2 --steps 24 --kernels-per-step 60 "
                              "--first-step 95 > /dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::filesystem::remove(dir / "truth.json");

  const auto alerts = final_alerts(Watcher(dir.path()).finish());
  std::map<std::string, int> found;
  for (const auto& [id, alert] : alerts) {
    EXPECT_TRUE(alert.has(R"("cause":{"name":"input_wait")")) << alert.json;
    const bool of_a_step = alert.rule == "getnext_outlier";
    EXPECT_TRUE(!of_a_step || alert.has(R"("step":110)")) << alert.json;
    EXPECT_TRUE(of_a_step || alert.has(R"("severity":"warning")")) << alert.json;
    ++found[alert.rule];
  }
  EXPECT_THAT(
      found, testing::ElementsAre(testing::Pair("getnext_outlier", 2), testing::Pair("gpu_idle", 2),
                                  testing::Pair("input_bound", 2)));
}

}  // namespace trainwatch::kineto_job_test
