// SPDX-License-Identifier: Apache-2.0
// SageMaker's own rules: off by default, with the defaults of its code or of its
// documentation.
#include <gtest/gtest.h>

#include <fstream>

#include "config_fake_rules.h"
#include "daemon/config/config.h"
#include "rules/catalog.h"
#include "support/source_path.h"
#include "support/temp_directory.h"

namespace trainwatch::config_preset_test {

const std::string kSageMaker = source_path("config/sagemaker.yaml");

// A rule of SageMaker's beside one that is not.
class ConfigPresetTest : public testing::Test {
 protected:
  ConfigPresetTest() {
    fakes_.spike.on_by_default = false;
    fakes_.spike.params[0].sagemaker.code = 3;
    fakes_.spike.params[1].sagemaker = {.code = 100, .docs = 20};
  }
  Config load(const std::string& yaml, const ConfigFlags& flags = {}) {
    const std::string path = dir_.path() + "/trainwatch.yaml";
    std::ofstream(path) << yaml;
    auto config = load_config(path, flags, fakes_.catalog());
    EXPECT_TRUE(config) << config.error().message;
    return *config;
  }
  static FakeParams params(const RuleConfig& rule) {
    return std::any_cast<const FakeParams&>(rule.params);
  }

  test::TempDirectory dir_;
  FakeCatalog fakes_;
};

TEST_F(ConfigPresetTest, ARuleThatIsOffByDefaultRunsWhenItIsNamed) {
  const auto by_default = load("").enabled_rules();
  ASSERT_EQ(by_default.size(), 1U);
  EXPECT_EQ(by_default[0].spec->id, "stall");
  EXPECT_EQ(load("rules:\n  default_enabled: true\n").enabled_rules().size(), 1U);
  EXPECT_EQ(load("rules:\n  step_spike:\n    enabled: true\n").enabled_rules().size(), 2U);
  ConfigFlags flags;
  flags.rules = {"step_spike"};
  ASSERT_EQ(load("", flags).enabled_rules().size(), 1U);
  EXPECT_EQ(load("", flags).enabled_rules()[0].spec->id, "step_spike");
}

TEST_F(ConfigPresetTest, ThePresetStandsBelowWhatIsSetByName) {
  ConfigFlags flags;
  flags.rules = {"step_spike"};
  const auto of = [&](const std::string& yaml) {
    return params(load(yaml, flags).enabled_rules()[0]);
  };
  EXPECT_EQ(of("").window, 200);
  EXPECT_EQ(of("rules:\n  preset: trainwatch\n").window, 200);
  EXPECT_EQ(of("rules:\n  preset: sagemaker-code\n").window, 100);
  EXPECT_EQ(of("rules:\n  preset: sagemaker-code\n").sigma, 3);
  EXPECT_EQ(of("rules:\n  preset: sagemaker-docs\n").window, 20);
  EXPECT_EQ(of("rules:\n  preset: sagemaker-docs\n").sigma, 3) << "the code's is documented";
  EXPECT_EQ(of("rules:\n  preset: sagemaker-docs\n  step_spike:\n    window: 50\n").window, 50);
  EXPECT_EQ(of("rules:\n  step_spike:\n    window: 50\n  preset: sagemaker-docs\n").window, 50);
  flags.set = {"step_spike.window=30"};
  EXPECT_EQ(of("rules:\n  preset: sagemaker-docs\n").window, 30);
  flags.set.clear();
  flags.settings = {{"rules.preset", {"sagemaker-docs"}}};
  EXPECT_EQ(of("rules:\n  step_spike:\n    window: 50\n").window, 50);
  EXPECT_EQ(of("").window, 20);
}

TEST_F(ConfigPresetTest, TheErrorNamesThePresets) {
  ConfigFlags flags;
  flags.settings = {{"rules.preset", {"code"}}};
  const auto config = load_config("", flags, fakes_.catalog());
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message,
            "--rules.preset: 'code' is not one of trainwatch|sagemaker-code|sagemaker-docs");
}

TEST_F(ConfigPresetTest, TheProfileRunsAllOfSageMakersRules) {
  const auto config = load_config(kSageMaker, {}, rule_catalog());
  ASSERT_TRUE(config) << config.error().message;
  for (const RuleEntry& rule : config->rules) {
    if (rule.config.spec->on_by_default) continue;
    EXPECT_EQ(rule.enabled, true) << rule.config.spec->id;
    EXPECT_TRUE(rule.set_keys.empty()) << "or the preset would have no effect";
  }
}

TEST_F(ConfigPresetTest, ThePresetHasTheParametersOfSageMakersDocumentation) {
  ConfigFlags flags;
  flags.settings = {{"rules.preset", {"sagemaker-docs"}}};
  const auto config = load_config(kSageMaker, flags, rule_catalog());
  ASSERT_TRUE(config) << config.error().message;
  std::map<std::string, std::string> changed;
  for (const RuleConfig& rule : config->enabled_rules()) {
    for (const Param& param : rule.spec->params) {
      const std::string value = param.print(rule.params);
      if (value == param.print(rule.spec->defaults)) continue;
      changed[std::string(rule.spec->id) + "." + std::string(param.name)] = value;
    }
  }
  const std::map<std::string, std::string> documented = {
      {"batch_size.patience", "100"},
      {"cpu_bottleneck.patience", "100"},
      {"cpu_bottleneck.threshold", "50"},
      {"cpu_bottleneck.window_seconds", "0"},
      {"gpu_memory_increase.increase", "10"},
      {"gpu_memory_increase.patience", "100"},
      {"gpu_memory_increase.window", "500"},
      {"io_bottleneck.gpu_threshold", "70"},
      {"load_balancing.patience", "10"},
      {"low_gpu_utilization.window_seconds", "0"},
      {"step_outlier.stddev", "5"}};
  EXPECT_EQ(changed, documented);
}

}  // namespace trainwatch::config_preset_test
