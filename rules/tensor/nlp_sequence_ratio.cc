// SPDX-License-Identifier: Apache-2.0
// Much of the input sequences is padding or unknown words; SageMaker's NLPSequenceRatio, see
// docs/rules/nlp_sequence_ratio.md.
#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "rules/tensor/tensor_rule.h"

namespace trainwatch::nlp_sequence_ratio {
namespace {

constexpr std::size_t kMostTokens = 16;
constexpr TensorPhrases kPhrases[] = {
    {.one = "has too many of a token",
     .many = "have too many of a token",
     .figure = "share of the token",
     .unit = "percent",
     .next = "Sort or bucket the samples by length, or pack them, so that less of a batch is "
             "padding; for unknown words, look at the tokenizer.",
     .thing = "input"}};

struct Params {
  std::string tensor_regex = ".*embedding0_input_0";
  std::string token_values = "0";
  std::string token_thresholds_percent = "50";
};

// nullopt: not a list of numbers.
std::optional<std::vector<double>> numbers_of(std::string_view list) {
  std::vector<double> numbers;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view part = list.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    double number = 0;
    const auto [end, failure] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (failure != std::errc{} || end != part.data() + part.size()) return std::nullopt;
    numbers.push_back(number);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return numbers;
}

Status check_numbers(std::string_view list) {
  const auto numbers = numbers_of(list);
  if (numbers && numbers->size() <= kMostTokens) return success();
  return Error{"'" + std::string(list) + "' is not a list of at most 16 numbers"};
}

class NlpSequenceRatio final : public TensorRule<NoTensorMemory> {
 public:
  NlpSequenceRatio(const Params& params, const RuleContext& context)
      : TensorRule(context),
        selection_("", params.tensor_regex),
        tokens_(numbers_of(params.token_values).value_or(std::vector<double>{})),
        limits_(numbers_of(params.token_thresholds_percent).value_or(std::vector<double>{})) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    if (tensor.statistics.count == 0 || !selection_.has(tensor, interner())) return;
    const std::span<const double> values = elements(tensor);
    if (values.empty() || limits_.empty()) return;
    const TensorPlace place = place_of(tensor);
    if (Track* const track = reach(place, out)) judge(*track, place, judge_tokens(values), out);
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "input sequences"; }

 private:
  // The first token that is too frequent; if none is, the first.
  TensorJudgement judge_tokens(std::span<const double> values) const {
    TensorJudgement first;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const double limit = limits_[std::min(i, limits_.size() - 1)];
      const auto count = static_cast<double>(std::ranges::count(values, tokens_[i]));
      const double percent = 100 * count / static_cast<double>(values.size());
      const TensorJudgement judged{percent > limit, percent, limit};
      if (judged.bad) return judged;
      if (i == 0) first = judged;
    }
    return first;
  }

  TensorSelection selection_;
  std::vector<double> tokens_;
  std::vector<double> limits_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<NlpSequenceRatio, Params>(
      {.id = "nlp_sequence_ratio",
       .scope = Scope::rank,
       .summary = "Much of the input sequences is padding or another given token.",
       .doc = "SageMaker's NLPSequenceRatio: of the elements of an input more than a percentage "
              "are the given token. Each of `token_values` has its own of "
              "`token_thresholds_percent`; the last holds for those beyond.",
       .on_by_default = false},
      {text_field("tensor_regex", &Params::tensor_regex,
                  "Regular expressions that find the input sequences, comma separated.",
                  check_regexes),
       text_field("token_values", &Params::token_values, "Numbers of tokens, comma separated.",
                  check_numbers),
       text_field("token_thresholds_percent", &Params::token_thresholds_percent,
                  "Highest percentage of each token, comma separated.", check_numbers)});
  return spec;
}

}  // namespace trainwatch::nlp_sequence_ratio
