// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/hta/durations_by_name.h"

#include <gmock/gmock.h>

#include <cmath>

#include "pipeline/analysis/hta/cycle_results.h"
#include "unit/cycle/hand_made_cycle.h"

namespace trainwatch::durations_by_name_test {

CycleTrace kernels() {
  HandMadeCycle built;
  for (int i = 0; i < 3; ++i) built.compute({100 * i, 10 + i}, "long");
  built.compute({30, 8}, "b").compute({50, 2}, "c").compute({60, 4}, "c").compute({70, 3}, "d");
  built.communicate({80, 99});
  return built.build();
}

TEST(DurationsByName, TheLongestFirst) {
  const CycleTrace cycle = kernels();
  const auto found = kernels_by_name(cycle, all_rows(cycle), ActivityClass::computation, 100);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].name, "long");
  EXPECT_EQ(found[0].stats.count, 3U);
  EXPECT_EQ(found[0].stats.sum_ns, 33'000);
  EXPECT_EQ(found[0].stats.max_ns, 12'000);
  EXPECT_EQ(found[0].stats.min_ns, 10'000);
  EXPECT_DOUBLE_EQ(found[0].stats.mean_ns, 11'000);
  EXPECT_DOUBLE_EQ(found[0].stats.stddev_ns, 1'000);
  EXPECT_EQ(found[1].name, "b");
  EXPECT_DOUBLE_EQ(found[1].stats.stddev_ns, 0);
}

// HTA takes the figures of "others", and of the names beside it, from sums per name.
TEST(DurationsByName, TheFiguresOfOthersAreThoseOfTheirRows) {
  const CycleTrace cycle = kernels();
  const auto found = kernels_by_name(cycle, all_rows(cycle), ActivityClass::computation, 2);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[2].name, "others");
  EXPECT_EQ(found[2].stats.count, 3U);
  EXPECT_EQ(found[2].stats.sum_ns, 9'000);
  EXPECT_EQ(found[2].stats.max_ns, 4'000);
  EXPECT_EQ(found[2].stats.min_ns, 2'000);
  EXPECT_DOUBLE_EQ(found[2].stats.mean_ns, 3'000);
  EXPECT_DOUBLE_EQ(found[2].stats.stddev_ns, 1'000);
  EXPECT_EQ(found[0].stats.max_ns, 12'000);
}

TEST(DurationsByName, ALongNameIsCutBetweenCharacters) {
  NameTable names;
  const NameId name = names.intern(std::string(2047, 'a') + "\xC3\xA9" + "b");
  const auto found = durations_by_name(names, {{name, 1}}, 10);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, std::string(2047, 'a'));
}

TEST(DurationsByName, NothingHasNoNames) {
  EXPECT_TRUE(durations_by_name(NameTable{}, {}, 10).empty());
}

TEST(AnnotationBreakdown, OfTheHostAndOfTheDevice) {
  HandMadeCycle built;
  built.step(1, 0, 100).step(2, 100, 100);
  built.annotate(0, 50, "forward").annotate(100, 60, "forward").annotate(10, 3, "forward", true);
  const CycleTrace cycle = built.build();
  const SelectedCycle with(cycle, StepSelection::included);
  const auto host = annotations_by_name(with, false, 10);
  ASSERT_EQ(host.size(), 1U);
  EXPECT_EQ(host[0].stats.sum_ns, 110'000);
  EXPECT_EQ(annotations_by_name(with, true, 10)[0].stats.sum_ns, 3'000);
  const SelectedCycle without(cycle, StepSelection::without_last);
  EXPECT_EQ(annotations_by_name(without, false, 10)[0].stats.sum_ns, 50'000);
}

}  // namespace trainwatch::durations_by_name_test
