// SPDX-License-Identifier: Apache-2.0
#include "rules/case.h"

#include <utility>

#include "rules/catalog.h"
#include "rules/series_builder.h"
#include "rules/words.h"

namespace trainwatch::cases {
namespace {

Status apply_preset(std::string_view name, RuleConfig& rule) {
  constexpr std::pair<std::string_view, RulePreset> kPresets[] = {
      {"sagemaker-code", RulePreset::sagemaker_code},
      {"sagemaker-docs", RulePreset::sagemaker_docs}};
  for (const auto& [word, preset] : kPresets) {
    if (word != name) continue;
    rule.apply(preset);
    return success();
  }
  return Error{"preset sagemaker-code|sagemaker-docs"};
}

Status read_line(const Words& words, Case& made, SeriesBuilder& series) {
  if (words[0] == "set" && words.size() == 3) return made.rule.set(words[1], words[2]);
  if (words[0] == "preset" && words.size() == 2) return apply_preset(words[1], made.rule);
  if (words[0] == "expect") {
    Result<Expectation> expectation = read_expectation(words);
    if (!expectation.ok()) return expectation.error();
    made.expectations.push_back(*std::move(expectation));
    return success();
  }
  return series.line(words);
}

}  // namespace

Result<Case> parse_case(std::string_view rule, std::string_view text, int first_line) {
  const auto error_at = [](int line, const std::string& message) {
    return Error{std::to_string(line) + ": " + message};
  };
  const RuleSpec* spec = find_rule(rule);
  if (spec == nullptr) return error_at(first_line, "no rule '" + std::string(rule) + "'");
  Case made(*spec);
  SeriesBuilder series(made);
  for (int number = first_line; !text.empty(); ++number) {
    const Words words = words_of(take_line(text));
    if (words.empty()) continue;
    const std::size_t before = made.expectations.size();
    if (const Status done = read_line(words, made, series); !done.ok()) {
      return error_at(number, done.error().message);
    }
    if (made.expectations.size() > before) made.expectations.back().line = number;
  }
  if (made.expectations.empty()) return error_at(first_line, "nothing is expected");
  return made;
}

}  // namespace trainwatch::cases
