// SPDX-License-Identifier: Apache-2.0
// The text of the kernel's files about pressure and cgroups.
#include <gtest/gtest.h>

#include "commands/sample/cgroup.h"
#include "commands/sample/pressure.h"

namespace trainwatch::sample_limits_test {

TEST(Pressure, ReadsBothKinds) {
  const Pressure io = parse_pressure(
      "some avg10=64.38 avg60=76.55 avg300=73.33 total=11133502287\n"
      "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  EXPECT_EQ(io.some, 11133502287U);
  EXPECT_EQ(io.full, 0U);
  EXPECT_FALSE(parse_pressure("some avg10=1.00 avg60=0 total=0\n").full);
  EXPECT_FALSE(parse_pressure("").some);
  EXPECT_FALSE(parse_pressure("some avg10=1.00\nfull avg10=0.00 total=1\n").some);
  EXPECT_FALSE(parse_pressure("some avg10=0 total=-1\n").some);
}

TEST(Cgroup, FindsThePathOfVersionTwo) {
  EXPECT_EQ(parse_cgroup_path("0::/\n"), "/");
  EXPECT_EQ(parse_cgroup_path("10::/no\n0::/user.slice/a b\n"), "/user.slice/a b");
  EXPECT_FALSE(parse_cgroup_path("4:memory:/a\n"));
  EXPECT_FALSE(parse_cgroup_path(""));
}

TEST(Cgroup, FindsNumbersByTheirWholeNames) {
  EXPECT_EQ(number_after("nr_bursts 3\nnr_periods 17\n", "nr_periods"), 17U);
  EXPECT_EQ(number_after("xnr_periods 3\nnr_periods 17\n", "nr_periods"), 17U);
  EXPECT_EQ(number_after("8:0 rbytes=5 wbytes=6", "wbytes", '='), 6U);
  EXPECT_EQ(number_after("", "wbytes", '='), 0U);
}

TEST(Cgroup, NoLimitsNoFigures) {
  CgroupSampler none("/nowhere", "/../a");
  std::vector<Metric> metrics;
  none.sample(1, metrics);
  EXPECT_TRUE(metrics.empty());
}

}  // namespace trainwatch::sample_limits_test
