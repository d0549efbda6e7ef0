// SPDX-License-Identifier: Apache-2.0
// The generated SageMaker jobs, each with one known fault, through `trainwatch replay` with our own
// parameters and with those of SageMaker's code: every fault is found, named rightly, and nothing
// else is claimed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "commands/commands.h"
#include "support/alert_lines.h"
#include "support/source_path.h"
#include "support/temp_directory.h"

namespace trainwatch::sagemaker_job_test {

using test::AlertLine;
using test::TempDirectory;

struct Job {
  const char* scenario;
  int seed;
  int gpus = 2;
  int cpus = 4;
  const char* preset = "trainwatch";
};

std::ostream& operator<<(std::ostream& out, const Job& job) {
  return out << job.scenario << "_seed" << job.seed << "_" << job.gpus << "gpus_" << job.cpus
             << "cpus" << (std::string_view(job.preset) == "trainwatch" ? "" : "_sagemaker");
}

class SageMakerJob : public testing::TestWithParam<Job> {
 protected:
  // Final state of every alert of the job.
  std::vector<AlertLine> alerts() {
    const Job& job = GetParam();
    TempDirectory dir;
    std::ostringstream command;
    command << "/usr/bin/python3 " << source_path("tests/support/sagemaker_job_gen.py") << " job"
            << " --scenario " << job.scenario << " --seed " << job.seed << " --gpus " << job.gpus
            << " --cpus " << job.cpus << " --seconds 900 --out " << dir.path() << " > /dev/null";
    EXPECT_EQ(std::system(command.str().c_str()), 0);
    ReplayOptions options;
    options.parts = true;
    options.paths = {dir.path()};
    options.flags.settings = {{"rules.preset", {job.preset}}};
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(replay(options, out, err), 0) << err.str();
    EXPECT_EQ(err.str(), "");
    std::vector<AlertLine> last;
    for (auto& [id, alert] : test::final_alerts(test::parse_alerts(out.str()))) {
      last.push_back(alert);
    }
    return last;
  }

  static std::vector<AlertLine> of_rule(const std::vector<AlertLine>& all, std::string_view rule) {
    std::vector<AlertLine> some;
    std::copy_if(all.begin(), all.end(), std::back_inserter(some),
                 [&](const AlertLine& alert) { return alert.rule == rule; });
    return some;
  }
  // All but input_bound: the loader of every one of these jobs takes 10 % of a step.
  static std::vector<std::string> loud_rules(const std::vector<AlertLine>& all) {
    std::vector<std::string> rules;
    for (const AlertLine& alert : all) {
      if (alert.loud() && alert.rule != "input_bound") rules.push_back(alert.rule);
    }
    std::sort(rules.begin(), rules.end());
    rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
    return rules;
  }
};

TEST_P(SageMakerJob, FindsItsFaultAndNothingElse) {
  const std::vector<AlertLine> all = alerts();
  const std::string scenario = GetParam().scenario;
  SCOPED_TRACE(testing::PrintToString(all.size()) + " alerts");
  if (scenario == "cpubottleneck") {
    EXPECT_THAT(loud_rules(all), testing::ElementsAre("cpu_bottleneck", "low_gpu_utilization"));
    ASSERT_EQ(of_rule(all, "cpu_bottleneck").size(), 1U);
    EXPECT_TRUE(of_rule(all, "cpu_bottleneck")[0].has(R"("cause":{"name":"cpu_saturation")"));
  } else if (scenario == "lowgpu" || scenario == "gpufluct") {
    const char* reason = scenario == "lowgpu" ? "under_utilised" : "fluctuating";
    EXPECT_THAT(loud_rules(all), testing::ElementsAre("low_gpu_utilization"));
    const auto low = of_rule(all, "low_gpu_utilization");
    EXPECT_EQ(low.size(), static_cast<std::size_t>(GetParam().gpus)) << "one for each GPU";
    for (const AlertLine& alert : low) EXPECT_TRUE(alert.has(reason)) << alert.json;
  } else if (scenario == "stepoutlier") {
    const auto spikes = of_rule(all, "step_spike");
    const auto periodic = std::ranges::count_if(spikes, [](const AlertLine& alert) {
      return alert.severity == "warning" && alert.has(R"("pattern":"periodic","period":20)");
    });
    EXPECT_GE(periodic, 1) << spikes.size() << " alerts";
    EXPECT_THAT(loud_rules(all), testing::ElementsAre("step_spike"));
  } else {
    EXPECT_THAT(loud_rules(all), testing::IsEmpty());
  }
}

std::vector<Job> jobs() {
  std::vector<Job> all;
  for (const char* preset : {"trainwatch", "sagemaker-code"}) {
    for (const char* scenario :
         {"cpubottleneck", "lowgpu", "gpufluct", "stepoutlier", "normal", "evalphase"}) {
      all.push_back({scenario, 11, 2, 4, preset});
      all.push_back({scenario, 12, 2, 4, preset});
      all.push_back({scenario, 13, 4, 8, preset});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, SageMakerJob, testing::ValuesIn(jobs()),
                         testing::PrintToStringParamName());

}  // namespace trainwatch::sagemaker_job_test
