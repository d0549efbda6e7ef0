// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/set_aside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainwatch::set_aside_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Death = SetAside::Death;

constexpr FileIdentity kBad{1, 2, 3};
constexpr FileIdentity kOther{1, 9, 3};
constexpr std::uint64_t kMiB = 1U << 20U;

Death death(std::uint64_t from = kMiB, FileIdentity identity = kBad) {
  return {"/job/bad.gz", identity, from, from + 4096};
}

// The next process, of this version.
void restart(SetAside& before, SetAside& after, std::string_view version = "1.0") {
  after.load(version, before.saved("1.0"));
}

TEST(SetAside, AFileIsSetAsideByTheSecondDeathInARow) {
  SetAside first;
  EXPECT_THAT(first.died({death()}), IsEmpty());
  EXPECT_FALSE(first.reason(kBad, 2 * kMiB));
  SetAside second;
  restart(first, second);
  EXPECT_THAT(second.died({death(kMiB + 100)}), ElementsAre("/job/bad.gz"));
  EXPECT_THAT(second.reason(kBad, 2 * kMiB).value_or(""), HasSubstr("died twice"));
  EXPECT_FALSE(second.reason(kOther, 2 * kMiB)) << "a file that took its name";
  EXPECT_FALSE(second.reason(kBad, 100)) << "it was truncated";
  SetAside third;
  restart(second, third);
  EXPECT_THAT(third.died({}), IsEmpty());
  EXPECT_TRUE(third.reason(kBad, 2 * kMiB)) << "until somebody asks";
}

TEST(SetAside, AProcessThatIsKilledNowAndThenSetsNothingAside) {
  const std::vector<std::vector<Death>> kinds_of_second_deaths = {
      {}, {death(99 * kMiB)}, {death(kMiB, kOther)}};
  for (const auto& second_death : kinds_of_second_deaths) {
    SetAside first;
    first.died({death()});
    SetAside second;
    restart(first, second);
    EXPECT_THAT(second.died(second_death), IsEmpty());
    SetAside third;
    restart(second, third);
    EXPECT_THAT(third.died({death()}), IsEmpty()) << "not in a row";
  }
}

TEST(SetAside, AFileIsTriedAgainByAnotherVersionAndOnRequest) {
  SetAside first;
  first.died({death()});
  first.died({death()});
  ASSERT_TRUE(first.reason(kBad, 2 * kMiB));
  SetAside upgraded;
  restart(first, upgraded, "1.1");
  EXPECT_FALSE(upgraded.reason(kBad, 2 * kMiB));
  SetAside asked;
  restart(first, asked);
  asked.forget();
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(asked.saved("1.0"), "");
}

TEST(SetAside, DamageIsForgotten) {
  SetAside first;
  first.died({death()});
  first.died({death()});
  std::string bytes = first.saved("1.0");
  bytes.resize(bytes.size() - 3);
  SetAside second;
  second.load("1.0", bytes);
  EXPECT_TRUE(second.empty());
}

TEST(SetAside, IsBounded) {
  SetAside files;
  for (std::uint64_t i = 0; i < 2 * SetAside::kMost; ++i) {
    for (int twice = 0; twice < 2; ++twice) files.died({death(kMiB, {1, i, 0})});
  }
  EXPECT_FALSE(files.reason({1, 0, 0}, 2 * kMiB)) << "the oldest";
  EXPECT_TRUE(files.reason({1, 2 * SetAside::kMost - 1, 0}, 2 * kMiB));
}

}  // namespace trainwatch::set_aside_test
