// SPDX-License-Identifier: Apache-2.0
// `formats` of the configuration file: what is accepted, and what each mistake is called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_fake_rules.h"
#include "daemon/config/config.h"

namespace trainwatch::config_formats_test {

using testing::HasSubstr;

Result<Config> parsed(const std::string& text) {
  static const FakeCatalog fakes;
  return parse_config(text, "t.yaml", fakes.catalog());
}

// As in the specification of the mechanism.
constexpr const char* kMegatron = R"yaml(formats:
  mine:
    files: ["*.out", "stdout.log"]
    kind: regex
    probe: "elapsed time per iteration \\(ms\\)"
    line: "(?:\\[(?P<time>[-0-9 :.]+)\\] )?iteration +(?P<step>\\d+)/ *(?P<total>\\d+) *\\|"
    pairs: {sep: "|", kv: ":"}
    end: [all is done, "it is over"]
    time: {from: time, layout: "%Y-%m-%d %H:%M:%S", zone: local, else: arrival}
    step: {from: step, base: 1}
    fields:
      "elapsed time per iteration (ms)": {to: step_seconds, scale: 0.001, per: interval}
      "lm loss": {to: loss}
      total: total_steps
      gap: {to: "metric:my/gap"}
)yaml";

TEST(FormatsConfig, Lines) {
  const auto config = parsed(kMegatron);
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->formats.size(), 1U);
  const FormatDeclaration& format = config->formats[0];
  EXPECT_EQ(format.name, "mine");
  EXPECT_EQ(format.has, std::vector<std::string>{"elapsed time per iteration (ms)"});
  EXPECT_EQ(format.end, (std::vector<std::string>{"all is done", "it is over"}));
  ASSERT_EQ(format.fields.size(), 4U);
  EXPECT_EQ(format.fields[0].kind, ScalarKind::step_seconds);
  EXPECT_EQ(format.fields[0].scale, 0.001);
  EXPECT_TRUE(format.fields[0].interval);
  EXPECT_EQ(format.fields[2].kind, ScalarKind::total_steps);
  EXPECT_EQ(format.fields[3].tag, "my/gap");
}

TEST(FormatsConfig, ObjectsAndRows) {
  const auto config = parsed(R"yaml(formats:
  mine:
    kind: json
    probe: {has: [log_type_name, time_us]}
    time: {from: time_us, scale: 1e-6}
    rank: rank
    spans: {name: log_type_name, end: "_end", value_ms: value, map: {step: Step, fwd: Forward}}
  rows:
    files: table.dat
    kind: csv
    probe: {header_has: [n, err]}
    step: n
    fields: {"err*": loss}
)yaml");
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->formats.size(), 2U);
  EXPECT_EQ(config->formats[0].time_unit, TimeUnit::microseconds);
  EXPECT_EQ(config->formats[0].spans.kinds.size(), 2U);
  EXPECT_EQ(config->formats[1].step, "n");
}

void expect_mistake(const std::string& lines, const std::string& what) {
  const auto config = parsed("formats:\n  mine:\n" + lines);
  ASSERT_FALSE(config) << what;
  EXPECT_THAT(config.error().message, HasSubstr(what));
}

TEST(FormatsConfig, MistakesAreCalledByTheirKeys) {
  expect_mistake("    kind: yaml\n", "t.yaml:3: formats.mine.kind: 'yaml' is not one of regex");
  expect_mistake("    files: a\n", "formats.mine.kind: is missing");
  const std::string regex = "    kind: regex\n    probe: abc\n    fields: {loss: loss}\n";
  expect_mistake(regex, "formats.mine.line: is missing");
  expect_mistake(regex + "    line: \"(\"\n", "t.yaml:6: formats.mine.line: is no pattern of RE2");
  expect_mistake(regex + "    line: a\n    step: {from: step}\n",
                 "formats.mine.step.from: 'step' is no group of the line");
  expect_mistake(regex + "    lines: a\n",
                 "formats.mine.lines: unknown key (did you mean 'line'?)");
  expect_mistake("    kind: regex\n    probe: \"a.*\"\n",
                 "formats.mine.probe: 'a.*' is a pattern, not a text");
  const std::string json = "    kind: json\n    probe: {has: [a]}\n";
  expect_mistake(json, "formats.mine.fields: is missing");
  expect_mistake(json + "    fields: {a: {to: los}}\n",
                 "formats.mine.fields.a.to: 'los' is no target (did you mean 'loss'?)");
  expect_mistake(json + "    fields: {a: {scale: 2}}\n", "formats.mine.fields.a.to: is missing");
  expect_mistake(json + "    fields: {a: {to: loss, scale: x}}\n",
                 "formats.mine.fields.a.scale: must be a number");
  expect_mistake(json + "    fields: {a: {to: loss, per: day}}\n",
                 "formats.mine.fields.a.per: must be 'step' or 'interval'");
  expect_mistake(json + "    time: {from: t, scale: 60}\n", "formats.mine.time.scale: must be 1");
  expect_mistake(json + "    time: {layout: \"%d\"}\n", "formats.mine.time.layout: must be '%Y");
  expect_mistake(json + "    line: x\n", "formats.mine.line: unknown key");
  expect_mistake(json + "    end: done\n", "formats.mine.end: unknown key");
  expect_mistake(regex + "    end: [done, \"\"]\n", "formats.mine.end");
  expect_mistake(regex + "    end: ab\n", "formats.mine.end: must be texts of 3");
  expect_mistake("    kind: json\n    probe: abc\n", "formats.mine.probe: must be a map");
  expect_mistake("    kind: csv\n    fields: {a: loss}\n", "formats.mine.probe: is missing");
}

}  // namespace trainwatch::config_formats_test
