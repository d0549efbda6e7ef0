// SPDX-License-Identifier: Apache-2.0
// Scalars without a time of their own get that at which their file was written to, which another
// run need not see: alerts about them have the same ids whatever it is.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "rules/case.h"
#include "rules/case_driver.h"

namespace trainwatch::cases {
namespace {

std::set<std::string> ids(const Case& made) {
  std::set<std::string> found;
  for (const Emitted& one : run_straight(made).emitted) found.insert(one.alert.id);
  return found;
}

void same_ids_an_hour_later(std::string_view rule, std::string_view text) {
  Result<Case> made = parse_case(rule, text);
  ASSERT_TRUE(made.ok()) << made.error().message;
  const std::set<std::string> before = ids(*made);
  for (Input& event : made->events) std::get<Scalar>(event).at += std::chrono::hours(1);
  EXPECT_EQ(before.size(), 2U);
  EXPECT_EQ(ids(*made), before);
}

TEST(ScalarIds, OfLossNanDoNotDependOnTheTime) {
  same_ids_an_hour_later("loss_nan",
                         "scalar loss 1..10 2 timed no\n"
                         "scalar loss 11..12 nan timed no\n"
                         "scalar loss 5..10 2 timed no\n"
                         "scalar loss 11..12 nan timed no\n"
                         "expect alerts 2\n");
}

TEST(ScalarIds, OfLossSpikeDoNotDependOnTheTime) {
  same_ids_an_hour_later("loss_spike",
                         "scalar loss 1..100 2 timed no\n"
                         "scalar loss 101..110 5 timed no\n"
                         "scalar loss 1..100 2 timed no\n"
                         "scalar loss 101..110 5 timed no\n"
                         "expect alerts 2\n");
}

TEST(ScalarIds, OfLossNotDecreasingDoNotDependOnTheTime) {
  same_ids_an_hour_later("loss_not_decreasing",
                         "scalar loss 0..20 2 timed no\n"
                         "scalar loss 0..20 2 timed no\n"
                         "expect alerts 2\n");
}

}  // namespace
}  // namespace trainwatch::cases
