// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/run_names.h"

#include <gtest/gtest.h>

#include <string>

namespace trainwatch::run_names_test {

constexpr Time at(int second) {
  return Time{std::chrono::seconds(1'790'000'000 + second)};
}

FileWriter beside(std::int64_t process, bool other_file = false) {
  return {"host", 0, process, true, other_file};
}

TEST(RunNames, TheFirstIdHasTheNameOfThePlace) {
  RunNames names;
  EXPECT_FALSE(names.knows("bert"));
  EXPECT_TRUE(names.is_first("bert", "9001"));
  EXPECT_FALSE(names.is_first("bert", "9002"));
  EXPECT_TRUE(names.is_first("gpt", "9002"));
  EXPECT_TRUE(names.is_first("bert", "9001"));
}

TEST(RunNames, AProcessIsOfOneRunForEver) {
  RunNames names;
  EXPECT_EQ(names.run_of("bert", {"host", 0, 1}, at(0)), 1U);
  EXPECT_EQ(names.run_of("bert", beside(2), at(1)), 2U);
  EXPECT_EQ(names.run_of("bert", {"host", 0, 2}, at(100)), 2U);
  EXPECT_EQ(names.run_of("bert", beside(1), at(100)), 1U);
  EXPECT_EQ(names.run_of("bert", {"host", 0, 3}, at(100)), 1U) << "the next attempt";
  EXPECT_EQ(names.run_of("gpt", {"host", 0, 2}, at(100)), 1U);
}

TEST(RunNames, TheNextOfASecondRunThatHasEndedIsItsAttempt) {
  RunNames names;
  EXPECT_EQ(names.run_of("bert", {"host", 0, 1}, at(0)), 1U);
  EXPECT_EQ(names.run_of("bert", beside(2), at(1)), 2U);
  EXPECT_EQ(names.run_of("bert", beside(3), at(5)), 3U) << "both live";
  EXPECT_EQ(names.run_of("bert", beside(2), at(60)), 2U);
  EXPECT_EQ(names.run_of("bert", beside(4), at(65)), 3U);
  EXPECT_EQ(names.run_of("bert", beside(5), at(71)), 2U);
}

TEST(RunNames, ANameThatOnlyLooksLikeThatOfAProcess) {
  RunNames names;
  EXPECT_EQ(names.run_of("bert", beside(7), at(0)), 1U);
  EXPECT_EQ(names.run_of("gpt", beside(7, true), at(0)), 2U);
}

TEST(RunNames, AreBounded) {
  RunNames names;
  for (int i = 0; i < 5000; ++i) names.is_first("job " + std::to_string(i), "1");
  EXPECT_TRUE(names.is_first("job 0", "1"));
  EXPECT_FALSE(names.is_first("job 0", "2"));
  EXPECT_TRUE(names.is_first("job 4999", "2")) << "no room: not reported apart";
  for (int i = 0; i < 100; ++i) names.run_of("bert", {"host", 0, i}, at(i));
  StateIo io = StateIo::saving();
  io(names);
  const std::string saved = io.take();
  EXPECT_LT(saved.size(), 150'000U);
  RunNames loaded;
  StateIo in = StateIo::loading(saved);
  in(loaded);
  EXPECT_TRUE(in.complete());
  EXPECT_FALSE(loaded.is_first("job 0", "2"));
}

}  // namespace trainwatch::run_names_test
