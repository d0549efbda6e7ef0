// SPDX-License-Identifier: Apache-2.0
// SageMaker's own rules on generated jobs: written live, with the writers interleaved at random,
// the alerts are those of the finished files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "support/live_player.h"
#include "support/source_path.h"
#include "support/temp_directory.h"
#include "support/watcher.h"

namespace trainwatch::sagemaker_rules_live_test {

using namespace test;

std::vector<RuleConfig> sagemaker_rules() {
  std::vector<RuleConfig> rules;
  for (const RuleSpec* spec : rule_catalog()) {
    if (spec->on_by_default) continue;
    RuleConfig& rule = rules.emplace_back(*spec);
    // Sooner, for shorter jobs; not every rule has these parameters.
    (void)rule.set("patience", "50");
    if (spec->id == "batch_size") (void)rule.set("window", "50");
    if (spec->id == "max_initialization_time") (void)rule.set("threshold", "0.05");
  }
  return rules;
}

Watcher watcher(const std::string& directory, std::size_t chunk_bytes) {
  return Watcher(directory, chunk_bytes, {}, sagemaker_rules());
}

class SageMakerRulesLive : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::ostringstream command;
    command << "/usr/bin/python3 " << source_path("tests/support/sagemaker_job_gen.py") << " job"
            << " --scenario " << GetParam() << " --seed 5 --seconds 180 --out " << job_.path()
            << " > /dev/null";
    ASSERT_EQ(std::system(command.str().c_str()), 0);
  }
  std::vector<AlertLine> played_live(unsigned seed) const {
    TempDirectory target;
    LivePlayer player(job_.path(), target.path(), seed);
    std::minstd_rand random(seed);
    Watcher live = watcher(target.path(), 1 + random() % 100000);
    while (player.step()) {
      if (random() % 3 == 0) live.look(random() % 2 == 0 ? SIZE_MAX : 1 + random() % 4);
      if (random() % 50 == 0) live.tick();
    }
    return live.finish();
  }

  TempDirectory job_;
};

TEST_P(SageMakerRulesLive, EqualsReplay) {
  const auto expected = final_alerts(watcher(job_.path(), 1U << 18U).finish());
  ASSERT_FALSE(expected.empty());
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const auto alerts = final_alerts(played_live(seed));
    ASSERT_EQ(alerts.size(), expected.size()) << "seed " << seed;
    for (const auto& [id, alert] : expected) {
      ASSERT_TRUE(alerts.contains(id)) << "seed " << seed << " lacks " << alert.json;
      ASSERT_EQ(alerts.at(id).json, alert.json) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, SageMakerRulesLive,
                         testing::Values("iobottleneck", "batchsize", "imbalance", "stepoutlier",
                                         "dataloader"),
                         [](const auto& scenario) { return std::string(scenario.param); });

}  // namespace trainwatch::sagemaker_rules_live_test
