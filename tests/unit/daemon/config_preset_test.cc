// SageMaker's own rules: off unless switched on, with the defaults of its code or of its
// documentation.
#include <gtest/gtest.h>

#include <fstream>

#include "config_fake_rules.h"
#include "daemon/config/config.h"
#include "support/temp_directory.h"

namespace trainwatch {
namespace {

// A rule of SageMaker's beside one that is not.
class ConfigPresetTest : public testing::Test {
 protected:
  ConfigPresetTest() {
    fakes_.spike.on_by_default = false;
    fakes_.spike.params[1].docs_default = 20;
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

TEST_F(ConfigPresetTest, TheDocumentedDefaultsStandBelowWhatIsSetByName) {
  ConfigFlags flags;
  flags.rules = {"step_spike"};
  const auto of = [&](const std::string& yaml) {
    return params(load(yaml, flags).enabled_rules()[0]);
  };
  EXPECT_EQ(of("rules:\n  preset: code\n").window, 200);
  EXPECT_EQ(of("rules:\n  preset: sagemaker-docs\n").window, 20);
  EXPECT_EQ(of("rules:\n  preset: sagemaker-docs\n").sigma, 6) << "the code's is documented";
  EXPECT_EQ(of("rules:\n  preset: sagemaker-docs\n  step_spike:\n    window: 50\n").window, 50);
  EXPECT_EQ(of("rules:\n  step_spike:\n    window: 50\n  preset: sagemaker-docs\n").window, 50);
  flags.set = {"step_spike.window=30"};
  EXPECT_EQ(of("rules:\n  preset: sagemaker-docs\n").window, 30);
  flags.set.clear();
  flags.settings = {{"rules.preset", {"sagemaker-docs"}}};
  EXPECT_EQ(of("rules:\n  step_spike:\n    window: 50\n").window, 50);
  EXPECT_EQ(of("").window, 20);
}

}  // namespace
}  // namespace trainwatch
