// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "config_fake_rules.h"
#include "daemon/config/config.h"
#include "daemon/config/config_table.h"
#include "support/source_path.h"

namespace trainwatch::config_flags_test {

class ConfigFlagsTest : public testing::Test {
 protected:
  std::string error(const ConfigFlags& flags) {
    Config config(fakes_.catalog());
    const Status applied = apply_flags(flags, config);
    return applied ? "" : applied.error().message;
  }
  FakeCatalog fakes_;
};

TEST_F(ConfigFlagsTest, StandAboveTheFile) {
  ConfigFlags flags;
  flags.settings = {{"log.level", {"error"}}, {"web.allowed_hosts", {"a", "b"}}};
  flags.watch = {"/c"};
  const std::string file = source_path("tests/data/config/good/everything.yaml");
  const auto config = load_config(file, flags, fakes_.catalog());
  ASSERT_TRUE(config);
  EXPECT_EQ(config->log.level, LogLevel::error);
  EXPECT_EQ(config->log.format, LogFormat::json);
  EXPECT_EQ(config->web.allowed_hosts, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(config->watch.size(), 1U);
  EXPECT_EQ(config->watch[0].path, "/c");
}

TEST_F(ConfigFlagsTest, RulesEnablesExactlyThese) {
  ConfigFlags flags;
  flags.rules = {"stall"};
  const auto config = load_config("", flags, fakes_.catalog());
  ASSERT_TRUE(config);
  ASSERT_EQ(config->enabled_rules().size(), 1U);
  EXPECT_EQ(config->enabled_rules()[0].spec->id, "stall");
}

TEST_F(ConfigFlagsTest, SetChangesOneParameter) {
  ConfigFlags flags;
  flags.set = {"step_spike.sigma=7.5", "step_spike.for=3s", "stall.enabled=false"};
  const auto config = load_config("", flags, fakes_.catalog());
  ASSERT_TRUE(config);
  const auto rules = config->enabled_rules();
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(std::any_cast<const FakeParams&>(rules[0].params).sigma, 7.5);
  EXPECT_EQ(rules[0].hold, std::chrono::seconds{3});
}

TEST_F(ConfigFlagsTest, ErrorsNameTheFlag) {
  EXPECT_EQ(error({.rules = {{"stal"}}}), "--rules: unknown rule 'stal' (did you mean 'stall'?)");
  EXPECT_EQ(error({.set = {"sigma=7"}}), "--set: 'sigma=7' is not rule.param=value");
  EXPECT_EQ(error({.set = {"stall.sigma=0.5"}}), "--set: stall.sigma: 0.5 is outside 1..50");
  EXPECT_EQ(error({.set = {"stall.sgma=5"}}),
            "--set: stall.sgma: unknown key (did you mean 'sigma'?)");
  EXPECT_EQ(error({.settings = {{"tail.max_files", {"0"}}}}),
            "--tail.max-files: 0 is outside 1..1000000");
}

// What the tables print as default must be accepted as a value, or documentation would lie.
TEST_F(ConfigFlagsTest, EveryDefaultCanBeWrittenDown) {
  Config config(fakes_.catalog());
  for (const auto& field : settings_table()) {
    if (field.list) continue;
    const std::string text = field.print(config);
    const Status set = field.set(config, std::span(&text, 1));
    EXPECT_TRUE(set) << field.key << " = " << text;
    EXPECT_EQ(field.print(config), text);
  }
}

}  // namespace trainwatch::config_flags_test
