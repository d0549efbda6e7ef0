// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/sagemaker/waiting_samples.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace trainwatch::waiting_samples_test {

using Sample = WaitingSamples::Sample;

Sample sample(int second, int type, double value) {
  return {Time{std::chrono::seconds(second)}, value, static_cast<Symbol>(type)};
}

std::vector<std::tuple<Time, Symbol, double>> all(const WaitingSamples& samples) {
  std::vector<std::tuple<Time, Symbol, double>> found;
  samples.each([&](const Sample& each) { found.emplace_back(each.at, each.type, each.value); });
  return found;
}

// Whatever comes and goes, they are what a queue of whole samples has.
TEST(WaitingSamples, AreAQueue) {
  std::mt19937 random(1);
  const auto pick = [&random](int n) { return std::uniform_int_distribution(0, n - 1)(random); };
  WaitingSamples samples;
  std::deque<Sample> expected;
  for (int i = 0; i < 10'000; ++i) {
    if (!expected.empty() && pick(5) < 2) {
      EXPECT_EQ(samples.front().at, expected.front().at);
      EXPECT_EQ(samples.front().type, expected.front().type);
      EXPECT_EQ(samples.front().value, expected.front().value);
      samples.pop_front();
      expected.pop_front();
    } else {
      expected.push_back(sample(i / 20 + (pick(20) == 0 ? -1 : 0), pick(2), i));
      samples.push_back(expected.back());
    }
    ASSERT_EQ(samples.size(), expected.size());
    ASSERT_EQ(samples.empty(), expected.empty());
  }
  std::vector<std::tuple<Time, Symbol, double>> left;
  for (const Sample& each : expected) left.emplace_back(each.at, each.type, each.value);
  EXPECT_EQ(all(samples), left);
}

TEST(WaitingSamples, StateSurvives) {
  WaitingSamples samples;
  for (int i = 0; i < 100; ++i) samples.push_back(sample(i / 7, i / 3 % 2, i));
  for (int i = 0; i < 5; ++i) samples.pop_front();
  StateIo out = StateIo::saving();
  samples.state(out);
  const std::string bytes = out.take();
  WaitingSamples loaded;
  loaded.push_back(sample(1, 1, 1));
  StateIo in = StateIo::loading(bytes);
  loaded.state(in);
  ASSERT_TRUE(in.complete());
  EXPECT_EQ(all(loaded), all(samples));
}

}  // namespace trainwatch::waiting_samples_test
