// What no case can say: a cycle whose work has no length at all, and so no time to have a share of.
#include <gtest/gtest.h>

#include "rules/catalog.h"
#include "trainwatch/cycle_measure.h"

namespace trainwatch {
namespace {

TEST(CycleRules, WorkWithoutLengthIsNoWork) {
  CycleMeasure cycle;
  cycle.work = cycle.launched_work = cycle.launches = 3;
  const Vocabulary vocabulary;
  for (const std::string_view id : {"gpu_idle", "host_bound", "kernel_launch_bound"}) {
    SCOPED_TRACE(id);
    RuleConfig config(*find_rule(id));
    for (const Param& param : config.spec->params) {
      if (!param.name.ends_with("percent")) continue;
      EXPECT_TRUE(config.set(param.name, "0").ok());
    }
    const auto rule = config.spec->make(config.params, {vocabulary, SubjectId::none});
    Verdicts verdicts;
    rule->on(Cycle{&cycle}, verdicts);
    EXPECT_TRUE(verdicts.empty());
    EXPECT_EQ(rule->missing(), std::vector<std::string_view>{"gpu work"});
  }
}

}  // namespace
}  // namespace trainwatch
