// SPDX-License-Identifier: Apache-2.0
// Runs every case of tests/rules/*.cases: what it expects holds, and the alerts are the same when
// the events come in random pieces and when the engine is killed and resumes from its stored state.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/engine/alert_json.h"
#include "rules/case.h"
#include "rules/case_driver.h"
#include "rules/case_file.h"
#include "rules/catalog.h"
#include "rules/expectation_check.h"

namespace trainwatch::cases {
namespace {

constexpr std::uint64_t kSeeds = 8;

const std::vector<CaseFile>& case_files() {
  static const std::vector<CaseFile> files = read_case_files();
  return files;
}

// The alerts of which one run or the other has something else to say, one a line.
std::string difference(const Finals& straight, const Finals& other) {
  const auto missing_in = [](const Finals& from, const Finals& in, const std::string& who) {
    std::string lines;
    for (const auto& [id, json] : from) {
      const auto same = in.find(id);
      if (same == in.end() || same->second != json) lines += "\n  " + who + ": " + json;
    }
    return lines;
  };
  return missing_in(straight, other, "straight") + missing_in(other, straight, "this run");
}

class RuleCase : public testing::Test {
 public:
  RuleCase(const CaseFile& file, const CaseText& text) : file_(file), text_(text) {}

 private:
  void TestBody() override {
    const Result<Case> made = parse_case(file_.rule, text_.text, text_.line + 1);
    if (!made.ok()) FAIL() << file_.path << ":" << made.error().message;
    const Outcome outcome = run_straight(*made);
    for (const Expectation& expectation : made->expectations) {
      const std::string failure = unmet(expectation, *made, outcome);
      if (!failure.empty()) ADD_FAILURE_AT(file_.path.c_str(), expectation.line) << failure;
    }
    if (outcome.emitted.empty() && must_fire()) {
      ADD_FAILURE_AT(file_.path.c_str(), text_.line)
          << "wanted: an alert, as the heading says\nbut:    " << why_silent(outcome.judged);
    }
    for (const Emitted& one : outcome.emitted) {
      EXPECT_LE(one.alert.verdict.evidence.size(), 3072U);
    }
    const Finals straight = finals(outcome.emitted);
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      compare(straight, run_cut(*made, seed), "cut with seed " + std::to_string(seed));
      compare(straight, run_killed(*made, seed), "killed with seed " + std::to_string(seed));
    }
  }
  bool must_fire() const {
    return text_.name.starts_with("firing") || text_.name.starts_with("recovering");
  }
  void compare(const Finals& straight, const Finals& other, const std::string& how) const {
    if (other == straight) return;
    ADD_FAILURE_AT(file_.path.c_str(), text_.line)
        << how << ", the alerts are others:" << difference(straight, other);
  }

  const CaseFile& file_;
  const CaseText& text_;
};

// "RuleCase.step_spike/firing_single", at the line of its heading.
[[maybe_unused]] const bool kRegistered = [] {
  for (const CaseFile& file : case_files()) {
    for (const CaseText& text : file.cases) {
      const std::string name = file.rule + "/" + text.name;
      testing::RegisterTest("RuleCase", name.c_str(), nullptr, nullptr, file.path.c_str(),
                            text.line, [&]() -> RuleCase* { return new RuleCase(file, text); });
    }
  }
  return true;
}();

TEST(RuleCases, EachHasANameOfItsOwn) {
  const std::regex wanted("(firing|quiet|recovering|missing)(_[a-z0-9_]+)?");
  for (const CaseFile& file : case_files()) {
    std::set<std::string> names;
    for (const CaseText& text : file.cases) {
      EXPECT_TRUE(std::regex_match(text.name, wanted) && names.insert(text.name).second)
          << file.path << ":" << text.line << ": the heading is '" << text.name
          << "'; wanted is == KIND or == KIND_MORE, KIND one of firing, quiet, recovering and "
             "missing, and each only once";
    }
  }
}

// Every rule has cases for firing, staying quiet, recovering and data that is missing; one that
// asks for no events can only stay quiet.
TEST(RuleCases, EveryRuleHasTheFourKinds) {
  for (const RuleSpec* spec : rule_catalog()) {
    if (spec->interest.hangs) continue;     // cases have no dumps of ranks: collective_hang_test
    if (spec->interest.run_ends) continue;  // nor notes about runs: run_failed_test
    const auto file = std::ranges::find(case_files(), spec->id, &CaseFile::rule);
    ASSERT_NE(file, case_files().end()) << "tests/rules/" << spec->id << ".cases is missing";
    for (const std::string_view kind : {"firing", "quiet", "recovering", "missing"}) {
      if (spec->interest.none() && kind != "quiet") continue;
      EXPECT_TRUE(std::ranges::any_of(
          file->cases, [&](const CaseText& text) { return text.name.starts_with(kind); }))
          << file->path << " has no case == " << kind;
    }
  }
}

}  // namespace
}  // namespace trainwatch::cases
