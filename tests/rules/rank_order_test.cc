// SPDX-License-Identifier: Apache-2.0
// The alerts about a job are the same in whatever order the cycles of its ranks are read.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "rules/case.h"
#include "rules/case_driver.h"

namespace trainwatch::cases {
namespace {

// Three cycles of four ranks: rank 2 is slow in the first two, and communication is exposed.
Case job(const std::string& rule, const std::string& world) {
  const std::string common = " 0.1 exposed 35 meet 30 " + world;
  const std::string text =
      "ranks 0..3\n"
      "cycle 0..11" +
      common +
      " but rank 2 meet 1\n"
      "cycle 20..31" +
      common +
      " but rank 2 meet 1\n"
      "cycle 40..51" +
      common +
      "\n"
      "end\nexpect alerts 1\n";
  Result<Case> made = parse_case(rule, text);
  if (!made.ok()) throw std::runtime_error(made.error().message);
  return *std::move(made);
}

// Cycles of a rank stay in their order, and the end of the input stays last.
void shuffle(std::vector<Input>& events, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::map<SubjectId, std::vector<Input>> ranks;
  std::vector<SubjectId> order;
  for (const Input& event : events) {
    const auto* cycle = std::get_if<Cycle>(&event);
    if (cycle == nullptr) continue;
    order.push_back(cycle->summary->subject);
    ranks[order.back()].push_back(event);
  }
  std::shuffle(order.begin(), order.end(), random);
  std::map<SubjectId, std::size_t> taken;
  for (std::size_t i = 0; i < order.size(); ++i) {
    events[i] = ranks[order[i]][taken[order[i]]++];
  }
}

class RankOrder : public testing::TestWithParam<const char*> {};

TEST_P(RankOrder, DoesNotMatter) {
  for (const std::string world : {"world 4", ""}) {
    const Case made = job(GetParam(), world);
    const Finals wanted = finals(run_straight(made).emitted);
    ASSERT_EQ(wanted.size(), 1U);
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
      Case other = made;
      shuffle(other.events, seed);
      EXPECT_EQ(finals(run_straight(other).emitted), wanted) << world << " seed " << seed;
      EXPECT_EQ(run_killed(other, seed), wanted) << world << " seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, RankOrder,
                         testing::Values("straggler", "communication_bound", "low_overlap"),
                         [](const auto& rule) { return std::string(rule.param); });

}  // namespace
}  // namespace trainwatch::cases
