// SPDX-License-Identifier: Apache-2.0
// Two rules that only have parameters, so that configuration is tested without the real ones.
#pragma once

#include <array>
#include <memory>

#include "daemon/config/config.h"

namespace trainwatch {

struct FakeParams {
  double sigma = 6;
  std::int64_t window = 200;
};

class FakeRule final : public Rule {
 public:
  FakeRule(const FakeParams&, const RuleContext&) {}
  void state(StateIo&) override {}
};

inline RuleSpec fake_spec(std::string_view id) {
  return make_spec<FakeRule, FakeParams>(
      {id, 1, Scope::rank, "Says nothing.", "Decides nothing."},
      {field("sigma", &FakeParams::sigma, 1, 50, "Deviations that count."),
       field("window", &FakeParams::window, 10, 10000, "Steps remembered.")});
}

struct FakeCatalog {
  RuleSpec spike = fake_spec("step_spike");
  RuleSpec stall = fake_spec("stall");
  std::array<const RuleSpec*, 2> all{&spike, &stall};
  RuleCatalog catalog() const { return all; }
};

}  // namespace trainwatch
