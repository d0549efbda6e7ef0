// Saved rule state that is cut short or damaged is refused or harmless, never a crash; and rules
// stay cheap in the number of verdicts they give.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "rules/case_file.h"
#include "rules/catalog.h"

namespace trainwatch::cases {
namespace {

// A series that leaves each rule with an open alert.
Case busy_case(std::string_view rule) {
  std::string text = "rule " + std::string(rule) + "\nticks 1 cpu0=40\ngap 3600";
  text += rule == "step_outlier"
              ? "\nsteps 0..300 0.2 wait 0.05 jitter 0.1 spike 1 every 20 from 19"
              : "\nsteps 0..150 0.2 wait 0.05 jitter 0.1 spike 1 every 20 from 19";
  text +=
      "\ncalls 30 0.1 jitter 0.1\ncalls 1 2"
      "\nticks 1190 cpu0=97 cpu1=40 gpu0=2 gpu1=60 mem0=20 mem1=20 iow0=90"
      "\nticks 10 cpu0=97 cpu1=40 gpu0=2 gpu1=60 mem0=80 mem1=20 iow0=90"
      "\nloaders 150 9\nclock 30"
      "\ncycle 0..9 0.1 launch 60 work_us 10 exposed 30 meet 25"
      "\nrank 1\ncycle 0..9 0.1 launch 60 work_us 10 exposed 30 meet 25"
      "\nrank 2\ncycle 0..9 0.1 launch 60 work_us 10 exposed 30 meet 1"
      "\nend"
      "\nexpect nothing";
  Result<Case> made = parse_case(text);
  if (!made.ok()) throw std::runtime_error(made.error().message);
  return *made;
}

bool wants(const Interest& interest, const Event& event) {
  const auto has = [](const auto& list, auto item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  if (const auto* sample = std::get_if<Sample>(&event)) {
    return has(interest.samples, sample->resource);
  }
  if (const auto* span = std::get_if<Span>(&event)) return has(interest.spans, span->kind);
  const bool cycles =
      std::holds_alternative<Cycle>(event) || std::holds_alternative<EndOfInput>(event);
  return (std::holds_alternative<Step>(event) && interest.steps) || (cycles && interest.cycles) ||
         (std::holds_alternative<Tick>(event) && interest.ticks);
}

class RuleState : public testing::TestWithParam<const RuleSpec*> {
 protected:
  RuleState() : case_(busy_case(GetParam()->id)) {}

  std::unique_ptr<Rule> make() const {
    return GetParam()->make(GetParam()->defaults, {case_.vocabulary, SubjectId::none});
  }
  std::size_t feed(Rule& rule) const {
    Verdicts verdicts;
    for (const Event& event : case_.events) {
      if (wants(GetParam()->interest, event)) rule.on(event, verdicts);
    }
    return verdicts.size();
  }
  std::string saved() const {
    const auto rule = make();
    feed(*rule);
    StateIo io = StateIo::saving();
    rule->state(io);
    return io.take();
  }

  Case case_;
};

TEST_P(RuleState, FiresAndGivesFewVerdicts) {
  const auto rule = make();
  EXPECT_TRUE(rule->warming());
  const std::size_t verdicts = feed(*rule);
  EXPECT_FALSE(rule->warming());
  EXPECT_GE(verdicts, 1U);
  EXPECT_LE(verdicts, 7U) << "one for each spike, one for each material change";
}

TEST_P(RuleState, AStateThatIsCutShortIsRefused) {
  const std::string bytes = saved();
  for (std::size_t size = 0; size < bytes.size(); size += size < 200 ? 1 : 13) {
    const auto rule = make();
    StateIo io = StateIo::loading(std::string_view(bytes).substr(0, size));
    rule->state(io);
    EXPECT_FALSE(io.complete()) << size;
  }
}

// The engine starts an instance cold whose state does not load; one that loads must work.
TEST_P(RuleState, ADamagedStateIsHarmless) {
  const std::string bytes = saved();
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = bytes;
    for (std::uint32_t n = 1 + random() % 8; n > 0; --n) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const auto rule = make();
    StateIo io = StateIo::loading(damaged);
    rule->state(io);
    if (io.complete()) feed(*rule);
  }
}

// Those that ask for events: the others keep nothing and say nothing.
std::vector<const RuleSpec*> judging_rules() {
  std::vector<const RuleSpec*> rules = rule_catalog();
  std::erase_if(rules, [](const RuleSpec* spec) { return spec->interest.none(); });
  return rules;
}

INSTANTIATE_TEST_SUITE_P(Catalog, RuleState, testing::ValuesIn(judging_rules()),
                         [](const auto& rule) { return std::string(rule.param->id); });

}  // namespace
}  // namespace trainwatch::cases
