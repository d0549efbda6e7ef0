// SPDX-License-Identifier: Apache-2.0
// What the memory of iteration times takes for usual, for far too long, and for a change of level,
// on seeded series.
#include "pipeline/analysis/core/pace_memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "support/saved_state.h"

namespace trainwatch::pace_memory_test {

using Seconds = std::function<double(std::mt19937_64& random, std::int64_t number)>;

double normal(std::mt19937_64& random) {
  return std::normal_distribution<double>()(random);
}
double uniform(std::mt19937_64& random) {
  return std::uniform_real_distribution<double>()(random);
}

class Job {
 public:
  explicit Job(std::uint64_t seed) : random_(seed) {}

  Pace next(const Seconds& seconds) {
    Step step;
    step.begin = step.start = now_;
    step.duration = Nanos{std::llround(seconds(random_, number_) * 1e9)};
    step.number = number_++;
    step.opens_attempt = step.number == 0;
    now_ = step.end();
    taken_ = to_seconds(step.duration);
    return memory_.add(step);
  }
  double taken() const { return taken_; }
  std::int64_t number() const { return number_; }
  PaceMemory& memory() { return memory_; }

 private:
  std::mt19937_64 random_;
  PaceMemory memory_;
  Time now_{};
  std::int64_t number_ = 0;
  double taken_ = 0;
};

struct Count {
  int far_too_long = 0;
  int changes = 0;
};

Count count(const Seconds& seconds, int jobs, int steps) {
  Count found;
  for (int seed = 0; seed < jobs; ++seed) {
    Job job(static_cast<std::uint64_t>(seed));
    bool changed = false;
    for (int i = 0; i < steps; ++i) {
      const Pace pace = job.next(seconds);
      if (pace.warm() && job.taken() > pace.limit && job.taken() > 1.5 * pace.usual) {
        ++found.far_too_long;
      }
      if (pace.reference > 0 && !changed) ++found.changes;
      changed = pace.reference > 0;
    }
  }
  return found;
}

// A third of the steps takes twice as long, from the beginning on.
TEST(PaceMemory, StepsOfTwoSizesAreOneLevel) {
  const Seconds sizes = [](auto& random, auto) {
    return (uniform(random) < 0.3 ? 0.4 : 0.2) * std::exp(0.03 * normal(random));
  };
  EXPECT_EQ(count(sizes, 300, 400).changes, 0);
}

TEST(PaceMemory, FewLongOnesDoNotHideLongerOnes) {
  Job job(7);
  for (int i = 0; i < 350; ++i) {
    job.next([](auto& random, auto number) {
      return (number > 60 && number % 100 == 0 ? 2.5 : 1) * std::exp(0.02 * normal(random));
    });
  }
  const Pace pace = job.next([](auto&, auto) { return 1; });
  EXPECT_LT(pace.limit, 2);
}

TEST(PaceMemory, HealthyJobsAreQuiet) {
  const std::pair<const char*, Seconds> shapes[] = {
      {"3 % jitter", [](auto& random, auto) { return 0.2 * std::exp(0.03 * normal(random)); }},
      {"half a percent", [](auto& random, auto) { return std::exp(0.005 * normal(random)); }},
      {"drift",
       [](auto& random, auto i) {
         const double slow = 1 + 0.05 * std::sin(static_cast<double>(i) / 300);
         return 0.2 * slow * std::exp(0.02 * normal(random));
       }},
      {"lognormal", [](auto& random, auto) { return std::exp(0.5 * normal(random)); }},
      {"two lengths",
       [](auto& random, auto) {
         return (uniform(random) < 0.2 ? 3 : 1) * std::exp(0.05 * normal(random));
       }},
      {"accumulation",
       [](auto& random, auto i) {
         return (i % 4 == 3 ? 1.8 : 1) * std::exp(0.03 * normal(random));
       }},
      {"compilation", [](auto& random, auto i) {
         return (i < 15 ? 20 : 1) * 0.1 * std::exp(0.03 * normal(random));
       }}};
  for (const auto& [name, seconds] : shapes) {
    const Count found = count(seconds, 10, 3000);
    EXPECT_EQ(found.far_too_long, 0) << name;
    EXPECT_EQ(found.changes, 0) << name;
  }
}

// The machine of the recorded job is quick for a while and slow for a while: 800 levels, of which
// few are taken for a change that stays.
TEST(PaceMemory, ALevelThatWandersSeldomChanges) {
  double level = 1;
  const Seconds wandering = [&](auto& random, auto i) {
    if (i % 25 == 0) level = std::exp(0.12 * normal(random));
    return level * std::exp(0.05 * normal(random));
  };
  EXPECT_LE(count(wandering, 10, 2000).changes, 14);
}

TEST(PaceMemory, ALevelThatStaysIsFoundWithinThirtyAndItsEndToo) {
  for (const double slower : {1.15, 1.5, 3.0}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Job job(seed);
      const Seconds seconds = [&](auto& random, auto i) {
        return (i >= 300 && i < 600 ? slower : 1) * 0.3 * std::exp(0.03 * normal(random));
      };
      std::int64_t found = 0;
      std::int64_t over = 0;
      while (job.number() < 800) {
        const Pace pace = job.next(seconds);
        if (found == 0 && pace.reference > 0) found = job.number();
        if (found != 0 && over == 0 && pace.reference == 0) over = job.number();
      }
      EXPECT_GE(found, 300) << slower;
      EXPECT_LE(found, 335) << slower;
      EXPECT_GE(over, 600) << slower;
      EXPECT_LE(over, 660) << slower;
    }
  }
}

// The memory knows few means by then, and that of the change itself is none of them.
TEST(PaceMemory, ASmallChangeSoonAfterTheBeginningIsFoundWhereItBegan) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Job job(seed);
    const Seconds seconds = [](auto& random, auto i) {
      return (i < 130 ? 1 : 1.13) * std::exp(0.03 * normal(random));
    };
    Pace pace;
    while (job.number() < 200 && pace.reference == 0) pace = job.next(seconds);
    EXPECT_LE(job.number(), 165);
    EXPECT_NEAR(static_cast<double>(pace.rise_step), 130, 2);
  }
}

TEST(PaceMemory, WhatCreepsIsFoundAgainstTheBestLevel) {
  Job job(1);
  const Seconds seconds = [](auto& random, auto i) {
    return (1 + static_cast<double>(i) / 10000) * std::exp(0.03 * normal(random));
  };
  double found = 0;
  while (job.number() < 10000 && found == 0) {
    if (job.next(seconds).reference > 0) found = 1 + static_cast<double>(job.number()) / 10000;
  }
  EXPECT_GT(found, 1.1);
  EXPECT_LT(found, 1.35);
}

TEST(PaceMemory, GoesOnWhereItWasSavedAndRefusesDamage) {
  const Seconds seconds = [](auto& random, auto) { return std::exp(0.1 * normal(random)); };
  Job straight(5);
  Job saved(5);
  for (int i = 0; i < 500; ++i) {
    straight.next(seconds);
    saved.next(seconds);
  }
  const std::string bytes = test::saved_state(saved.memory());
  PaceMemory restored;
  ASSERT_TRUE(test::load_state(bytes, restored));
  saved.memory() = restored;
  for (int i = 0; i < 100; ++i) {
    const Pace expected = straight.next(seconds);
    const Pace pace = saved.next(seconds);
    EXPECT_EQ(pace.limit, expected.limit);
    EXPECT_EQ(pace.recent, expected.recent);
  }
  PaceMemory other;
  EXPECT_FALSE(test::load_state(bytes.substr(0, bytes.size() / 2), other));
}

}  // namespace trainwatch::pace_memory_test
