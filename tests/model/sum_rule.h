// SPDX-License-Identifier: Apache-2.0
// A rule made to be wrong for ever after one lost, repeated or exchanged record: it counts and adds
// up all samples of a node, and reports count and sum at every sample of 90 and more.
#pragma once

#include <cstdio>
#include <string>

#include "trainwatch/rule.h"

namespace trainwatch::test {

class SumRule final : public Rule {
 public:
  struct Params {};
  static constexpr double kAlertAt = 90;

  SumRule(const Params&, const RuleContext&) {}

  void on_sample(const Sample& sample, Verdicts& out) override {
    ++count_;
    sum_ += sample.value;
    if (sample.value < kAlertAt) return;
    char text[96];
    std::snprintf(text, sizeof text, "n=%lld s=%.0f at=%lld", static_cast<long long>(count_), sum_,
                  static_cast<long long>(to_ns(sample.at)));
    Verdict verdict;
    verdict.step = count_;
    verdict.value = sum_;
    verdict.summary = text;
    const std::string key = std::to_string(count_);
    out.fires({.key = key, .at = sample.at}, [&] { return verdict; });
    out.clear(key, sample.at);
  }
  void state(StateIo& io) override {
    io(count_);
    io(sum_);
  }

 private:
  std::int64_t count_ = 0;
  double sum_ = 0;
};

inline const RuleSpec& sum_rule() {
  static const RuleSpec spec = make_spec<SumRule, SumRule::Params>(
      {.id = "sum",
       .scope = Scope::node,
       .summary = "Count and sum of all samples.",
       .doc = "For simulations.",
       .samples = {Resource::cpu_utilization, Resource::gpu_utilization},
       .incident = {.alone = true}},
      {});
  return spec;
}

}  // namespace trainwatch::test
