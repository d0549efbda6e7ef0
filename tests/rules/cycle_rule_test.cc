// SPDX-License-Identifier: Apache-2.0
// What no case can say: a cycle whose work has no length at all, and so no time to have a share of.
#include <gtest/gtest.h>

#include "rules/catalog.h"
#include "support/book_output.h"
#include "trainwatch/cycle_summary.h"

namespace trainwatch {
namespace {

TEST(CycleRules, ActivitiesWithoutLengthAreLeftOut) {
  CycleSummary cycle;
  cycle.activities = cycle.launched_activities = cycle.launches = 3;
  const Interner interner;
  for (const std::string_view id :
       {"gpu_idle", "host_bound", "kernel_launch_bound", "copy_bound"}) {
    SCOPED_TRACE(id);
    RuleConfig config(*find_rule(id));
    for (const Param& param : config.spec->params) {
      if (!param.name.ends_with("percent")) continue;
      EXPECT_TRUE(config.set(param.name, "0").ok());
    }
    const auto rule = config.spec->make(config.params, {interner, SubjectId::none});
    test::BookOutput out(config, interner, *rule);
    rule->on_cycle(cycle, out);
    EXPECT_EQ(out.verdicts(), 0U);
    EXPECT_EQ(rule->missing(), std::vector<std::string_view>{"gpu activity"});
  }
}

}  // namespace
}  // namespace trainwatch
