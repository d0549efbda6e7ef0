// SPDX-License-Identifier: Apache-2.0
// Saved rule state that is cut short or damaged is refused or harmless, never a crash; and rules
// stay cheap in the number of verdicts they give. A rule is fed the first case of its own
// tests/rules/RULE.cases that fires.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "pipeline/analysis/core/iteration_tracker.h"
#include "rules/case.h"
#include "rules/case_driver.h"
#include "rules/case_file.h"
#include "rules/catalog.h"
#include "support/book_output.h"

namespace trainwatch::cases {
namespace {

Case firing_case(std::string_view rule) {
  for (const CaseFile& file : read_case_files()) {
    if (file.rule != rule) continue;
    for (const CaseText& text : file.cases) {
      if (!text.name.starts_with("firing")) continue;
      Result<Case> made = parse_case(rule, text.text, text.line + 1);
      if (!made.ok()) throw std::runtime_error(file.path + ":" + made.error().message);
      return *std::move(made);
    }
  }
  throw std::runtime_error(std::string(rule) + " has no case that fires");
}

bool wants(const Interest& interest, const Input& event) {
  const auto has = [](const auto& list, auto item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  if (const auto* sample = std::get_if<Sample>(&event)) {
    return has(interest.samples, sample->resource);
  }
  if (const auto* span = std::get_if<Span>(&event)) return has(interest.spans, span->kind);
  return (std::holds_alternative<SourceNote>(event) && interest.notes) ||
         (std::holds_alternative<Scalar>(event) && interest.scalars) ||
         (std::holds_alternative<SavedTensor>(event) && interest.tensors) ||
         (std::holds_alternative<Cycle>(event) && interest.cycles) ||
         (std::holds_alternative<Tick>(event) && interest.ticks) ||
         (std::holds_alternative<EndOfInput>(event) && interest.end);
}

// What a rule gets: events of the case, and the steps that the engine makes of them.
using Delivered =
    std::variant<Span, Sample, Step, SourceNote, Scalar, Tick, Cycle, SavedTensor, EndOfInput>;

// Hands an event to a rule.
struct Delivery {
  Rule& rule;
  Verdicts& out;

  void operator()(const Step& step) const {
    rule.on_step(step, out);
    rule.on_complete_step(step, out);
  }
  void operator()(const SourceNote& note) const { rule.on_note(note, out); }
  void operator()(const Sample& sample) const { rule.on_sample(sample, out); }
  void operator()(const Scalar& scalar) const { rule.on_scalar(scalar, out); }
  void operator()(const Span& span) const { rule.on_span(span, out); }
  void operator()(const Cycle& cycle) const { rule.on_cycle(*cycle.summary, out); }
  void operator()(const SavedTensor& saved) const { rule.on_tensor(*saved.tensor, out); }
  void operator()(const Tick& tick) const { rule.on_tick(tick, out); }
  void operator()(const EndOfInput&) const { rule.on_end(Time{}, out); }
};

// SubjectId::none for events of no subject, which every instance of a rule gets.
SubjectId subject_of(const Input& event, const Interner& interner) {
  if (const auto* sample = std::get_if<Sample>(&event)) {
    return interner.series[sample->series].subject;
  }
  if (const auto* span = std::get_if<Span>(&event)) return span->subject;
  if (const auto* note = std::get_if<SourceNote>(&event)) return note->subject;
  if (const auto* scalar = std::get_if<Scalar>(&event)) return scalar->subject;
  if (const auto* cycle = std::get_if<Cycle>(&event)) return cycle->summary->subject;
  if (const auto* saved = std::get_if<SavedTensor>(&event)) return saved->tensor->subject;
  return SubjectId::none;
}

// What the engine hands to the one instance of the rule that fires first.
struct Feed {
  SubjectId subject = SubjectId::none;
  std::vector<Delivered> events;
};

Feed first_firing(const Case& made) {
  const RuleSpec& spec = *made.rule.spec;
  const SubjectTable& subjects = made.interner.subjects;
  const Subject key = project(run_straight(made).emitted.at(0).alert.subject, spec.scope);
  Feed feed{subjects.find(key), {}};
  IterationTracker iterations;
  for (const Input& event : made.events) {
    const SubjectId subject = subject_of(event, made.interner);
    const bool own = subject == SubjectId::none || project(subjects[subject], spec.scope) == key;
    if (!own) continue;
    if (wants(spec.interest, event)) {
      std::visit([&](const auto& wanted) { feed.events.emplace_back(wanted); }, event);
    }
    const auto* span = std::get_if<Span>(&event);
    const auto step = span == nullptr ? std::nullopt : iterations.on(*span);
    if (step && (spec.interest.steps || spec.interest.complete_steps))
      feed.events.emplace_back(*step);
  }
  return feed;
}

class RuleState : public testing::TestWithParam<const RuleSpec*> {
 protected:
  RuleState() : case_(firing_case(GetParam()->id)), feed_(first_firing(case_)) {}

  std::unique_ptr<Rule> make() const {
    return GetParam()->make(case_.rule.params, {case_.interner, feed_.subject});
  }
  test::BookOutput output_for(const Rule& rule) const { return {case_.rule, case_.interner, rule}; }
  // Answers how many verdicts the alert book wanted.
  std::size_t feed(Rule& rule) const {
    test::BookOutput out = output_for(rule);
    for (const Delivered& event : feed_.events) std::visit(Delivery{rule, out}, event);
    return out.verdicts();
  }
  // After the last update that leaves the alert open.
  std::string saved_open() const {
    const auto rule = make();
    test::BookOutput out = output_for(*rule);
    std::string bytes;
    for (const Delivered& event : feed_.events) {
      const std::size_t before = out.verdicts();
      std::visit(Delivery{*rule, out}, event);
      if (out.verdicts() == before || out.open() == 0) continue;
      StateIo io = StateIo::saving();
      rule->state(io);
      bytes = io.take();
    }
    return bytes;
  }

  Case case_;
  Feed feed_;
};

TEST_P(RuleState, FiresAndGivesFewVerdicts) {
  const auto rule = make();
  EXPECT_TRUE(rule->warming());
  const std::size_t verdicts = feed(*rule);
  EXPECT_FALSE(rule->warming());
  EXPECT_GE(verdicts, 1U);
  EXPECT_LE(verdicts, 7U)
      << "one for each spike, one for each material change; or put a shorter firing case first";
}

TEST_P(RuleState, AStateThatIsCutShortIsRefused) {
  const std::string bytes = saved_open();
  ASSERT_FALSE(bytes.empty()) << "the first firing case never leaves the alert open";
  for (std::size_t size = 0; size < bytes.size(); size += size < 200 ? 1 : 13) {
    const auto rule = make();
    StateIo io = StateIo::loading(std::string_view(bytes).substr(0, size));
    rule->state(io);
    EXPECT_FALSE(io.complete()) << size;
  }
}

// The engine starts an instance cold whose state does not load; one that loads must work.
TEST_P(RuleState, ADamagedStateIsHarmless) {
  const std::string bytes = saved_open();
  ASSERT_FALSE(bytes.empty()) << "the first firing case never leaves the alert open";
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = bytes;
    for (std::uint32_t n = 1 + random() % 8; n > 0; --n) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const auto rule = make();
    SameIds ids(case_.interner);
    StateIo io = StateIo::loading(damaged, &ids);
    rule->state(io);
    if (io.complete()) feed(*rule);
  }
}

// Those that ask for events: the others keep nothing and say nothing. Cases have no dumps of ranks:
// for these, see collective_hang_test.
std::vector<const RuleSpec*> judging_rules() {
  std::vector<const RuleSpec*> rules = rule_catalog();
  std::erase_if(rules, [](const RuleSpec* spec) {
    const auto& interest = spec->interest;
    return interest.none() || interest.hangs || interest.run_ends;
  });
  return rules;
}

INSTANTIATE_TEST_SUITE_P(Catalog, RuleState, testing::ValuesIn(judging_rules()),
                         [](const auto& rule) { return std::string(rule.param->id); });

}  // namespace
}  // namespace trainwatch::cases
