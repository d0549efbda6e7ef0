// Runs every tests/rules/*/*.case: what it expects holds, and the alerts are the same when the
// events come in random pieces and when the engine is killed and goes on from what it stored.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "rules/case_driver.h"
#include "rules/case_file.h"
#include "rules/catalog.h"

namespace trainwatch::cases {
namespace {

constexpr std::uint64_t kSeeds = 8;

std::filesystem::path folder() {
  return TRAINWATCH_SOURCE_DIR "/tests/rules";
}

std::vector<std::filesystem::path> case_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder())) {
    if (entry.path().extension() == ".case") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// True when the JSON holds "name":value, where value may be text or number.
bool holds(const std::string& json, const std::string& name, const std::string& value) {
  const std::string key = "\"" + name + "\":";
  for (std::size_t at = json.find(key); at != std::string::npos; at = json.find(key, at + 1)) {
    const std::string rest = json.substr(at + key.size(), value.size() + 2);
    if (rest == "\"" + value + "\"") return true;
    if (rest == value + "," || rest == value + "}" || rest.starts_with(value + ",") ||
        rest.starts_with(value + "}") || rest.starts_with(value + "]")) {
      return true;
    }
  }
  return false;
}

bool matches(const Alert& alert, const Wanted& wanted) {
  const std::string json = to_json(alert, "");
  return (!wanted.state || alert.state == *wanted.state) &&
         (!wanted.severity || alert.severity == *wanted.severity) &&
         (wanted.says.empty() || alert.verdict.summary == wanted.says) &&
         std::all_of(wanted.fields.begin(), wanted.fields.end(),
                     [&](const auto& field) { return holds(json, field.first, field.second); });
}

std::string listing(const Case& made, const std::vector<Told>& told) {
  std::ostringstream out;
  for (const Told& one : told) {
    const Label& label = made.labels[one.event];
    out << "at " << label.kind << " " << label.number << ": " << to_json(one.alert, "") << "\n";
  }
  return out.str();
}

bool met(const Expectation& expectation, const Case& made, const Outcome& outcome) {
  const Wanted& wanted = expectation.wanted;
  const std::vector<Told>& told = outcome.told;
  switch (expectation.kind) {
    case Expectation::Kind::at:
      return std::any_of(told.begin(), told.end(), [&](const Told& one) {
        return made.labels[one.event] == expectation.label && matches(one.alert, wanted);
      });
    case Expectation::Kind::last:
      return !told.empty() && matches(told.back().alert, wanted);
    case Expectation::Kind::nothing:
      return std::none_of(told.begin(), told.end(), [&](const Told& one) {
        return !wanted.severity || one.alert.severity >= *wanted.severity;
      });
    case Expectation::Kind::resolved: {
      const Finals last = finals(told);
      return std::all_of(last.begin(), last.end(), [](const auto& alert) {
        return holds(alert.second, "state", "resolved");
      });
    }
    case Expectation::Kind::alerts:
      return finals(told).size() == expectation.count;
    case Expectation::Kind::missing:
      return outcome.missing.contains(expectation.input);
  }
  return false;
}

class RuleCase : public testing::TestWithParam<std::filesystem::path> {
 protected:
  static Case load() {
    std::ifstream file(GetParam());
    std::ostringstream text;
    text << file.rdbuf();
    Result<Case> made = parse_case(text.str());
    if (!made.ok()) throw std::runtime_error(made.error().message);
    return *made;
  }
};

TEST_P(RuleCase, HoldsAndIsTheSameHoweverItIsRead) {
  const Case made = load();
  const Outcome outcome = run_straight(made);
  const std::vector<Told>& told = outcome.told;
  for (const Expectation& expectation : made.expectations) {
    EXPECT_TRUE(met(expectation, made, outcome))
        << GetParam().string() << ":" << expectation.line << " is not met. Told:\n"
        << listing(made, told);
  }
  const Finals straight = finals(told);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    EXPECT_EQ(run_cut(made, seed), straight) << "cut with seed " << seed;
    EXPECT_EQ(run_killed(made, seed), straight) << "killed with seed " << seed;
  }
  for (const Told& one : told) EXPECT_LE(one.alert.verdict.evidence.size(), 3072U);
}

INSTANTIATE_TEST_SUITE_P(All, RuleCase, testing::ValuesIn(case_files()), [](const auto& file) {
  std::string name =
      file.param.parent_path().filename().string() + "_" + file.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

// Every rule has cases for firing, staying quiet, recovering and data that is missing; one that
// asks for no events can only stay quiet.
TEST(RuleCases, EveryRuleHasTheFourKinds) {
  for (const RuleSpec* spec : rule_catalog()) {
    for (const std::string_view kind : {"firing", "quiet", "recovering", "missing"}) {
      if (spec->interest.none() && kind != "quiet") continue;
      const auto files = case_files();
      EXPECT_TRUE(std::any_of(files.begin(), files.end(),
                              [&](const auto& file) {
                                return file.parent_path().filename() == spec->id &&
                                       file.stem().string().starts_with(kind);
                              }))
          << spec->id << " has no " << kind << "*.case";
    }
  }
}

TEST(RuleCases, ErrorsNameTheLine) {
  const auto message = [](std::string_view text) {
    const Result<Case> made = parse_case(text);
    return made.ok() ? std::string() : made.error().message;
  };
  EXPECT_EQ(message("rule nothing\n"), "line 1: no rule 'nothing'");
  EXPECT_EQ(message("steps 0..9 0.2\n"), "line 1: the first line names the rule");
  EXPECT_EQ(message("rule step_spike\n\nset sigma 0\n"), "line 3: sigma: 0 is outside 1..100");
  EXPECT_EQ(message("rule step_spike\nsteps 0..9 0.2 weight 3\nexpect nothing\n"),
            "line 2: cannot read 'weight 3'");
  EXPECT_EQ(message("rule step_spike\nticks 10 cpu0=1*x\n"), "line 2: cannot read 'cpu0=1*x'");
  EXPECT_EQ(message("rule step_spike\nexpect at step 3 loudly\n"), "line 2: cannot read 'loudly'");
  EXPECT_EQ(message("rule gpu_idle\ncycle 0..9 0.2 wait\n"), "line 2: cannot read 'wait '");
  EXPECT_EQ(message("rule gpu_idle\ncycle 0..9 0.2 wait 60 launch 50\n"),
            "line 2: the parts of a step are more than 100 percent");
  EXPECT_EQ(message("rule step_spike\nsteps 0..9 0.2\n"), "nothing is expected");
}

}  // namespace
}  // namespace trainwatch::cases
