// SPDX-License-Identifier: Apache-2.0
// Thousands of runs, each from one seed. TRAINWATCH_SEEDS says how many, from TRAINWATCH_FIRST on;
// TRAINWATCH_SEED runs just that one and prints what happens; TRAINWATCH_WITHOUT=hole,remount
// leaves these out.
#include "model/simulation.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace trainwatch::test::simulation_test {

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Actions and faults that there are; a run of 2,000 seeds has each at least 20 times.
constexpr std::size_t kKinds = 44;

std::string report(std::uint64_t seed, const Simulation& run, const std::string& wrong) {
  std::string text = "seed " + std::to_string(seed) + (run.strict() ? " (strict)" : "") + ": " +
                     wrong + "\nthe last actions:\n";
  for (const std::string& action : run.last_actions()) text += "  " + action + '\n';
  return text;
}

TEST(Simulation, EverySeedGivesWhatTheOracleExpects) {
  const bool one = std::getenv("TRAINWATCH_SEED") != nullptr;
  const std::uint64_t first = number_in("TRAINWATCH_SEED", number_in("TRAINWATCH_FIRST", 1));
  const std::uint64_t seeds = one ? 1 : number_in("TRAINWATCH_SEEDS", 2000);
  const char* const without = std::getenv("TRAINWATCH_WITHOUT");
  Coverage coverage;
  std::uint64_t alerts = 0;
  std::uint64_t lost = 0;
  std::uint64_t failures = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    Simulation run({.seed = seed, .trace = one, .without = without == nullptr ? "" : without},
                   coverage);
    const std::string wrong = run.run();
    alerts += run.oracle().checked();
    lost += run.oracle().lost();
    if (wrong.empty()) continue;
    ++failures;
    ADD_FAILURE() << report(seed, run, wrong);
    if (failures == number_in("TRAINWATCH_STOP", 5)) break;
  }
  std::printf("%llu seeds, %llu alerts, %llu records lost where bytes were destroyed\n",
              static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(alerts),
              static_cast<unsigned long long>(lost));
  const bool enough = seeds >= 2000 && without == nullptr;
  for (const auto& [what, count] : coverage) {
    std::printf("%10llu %s\n", static_cast<unsigned long long>(count), what.c_str());
    EXPECT_TRUE(!enough || count >= 20) << what;
  }
  EXPECT_TRUE(!enough || coverage.size() >= kKinds) << coverage.size();
}

TEST(Simulation, OneSeedIsOneRun) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Coverage first_coverage;
    Coverage again_coverage;
    Plan plan;
    plan.seed = seed;
    Simulation first(plan, first_coverage);
    Simulation again(plan, again_coverage);
    EXPECT_EQ(first.run(), again.run());
    EXPECT_EQ(first.last_actions(), again.last_actions());
    EXPECT_EQ(first.heard(), again.heard());
    EXPECT_EQ(first_coverage, again_coverage);
  }
}

}  // namespace trainwatch::test::simulation_test
