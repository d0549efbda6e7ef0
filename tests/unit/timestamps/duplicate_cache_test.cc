// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timestamps/duplicate_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>

namespace trainwatch::duplicate_cache_test {

Span numbered(std::int64_t number) {
  Span span;
  span.step = number;
  span.kind = SpanKind::step;
  return span;
}

void reload(RecentSpans& spans) {
  StateIo saving = StateIo::saving();
  spans.state(saving);
  const std::string saved = saving.take();
  spans = RecentSpans{};
  StateIo loading = StateIo::loading(saved);
  spans.state(loading);
  ASSERT_TRUE(loading.complete());
}

// Spans come again at random; what is known is a queue of the last 64 new ones.
TEST(RecentSpans, KnowsTheLastSixtyFour) {
  std::mt19937 random{11};
  RecentSpans spans;
  std::deque<std::int64_t> recent;
  int repeated = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto number = static_cast<std::int64_t>(random() % 500);
    const bool known = std::find(recent.begin(), recent.end(), number) != recent.end();
    ASSERT_EQ(spans.add(numbered(number)), !known) << i;
    repeated += known ? 1 : 0;
    if (!known) recent.push_back(number);
    if (recent.size() > 64) recent.pop_front();
    if (random() % 100 == 0) reload(spans);
  }
  EXPECT_GT(repeated, 1000);
}

TEST(RecentSpans, AnEmptyOneIsReloaded) {
  RecentSpans spans;
  reload(spans);
  EXPECT_TRUE(spans.add(numbered(1)));
  EXPECT_FALSE(spans.add(numbered(1)));
}

Sample sampled(std::int64_t number) {
  return {Time{std::chrono::seconds(number)}, 50, SeriesId{0}, Resource::cpu_utilization};
}

// The rows of a store, with as many bytes as were ever written to it.
struct Store {
  StoredRows rows;
  std::size_t written = 0;

  void save(RecentSamples& samples, bool all) {
    StateRows changed;
    samples.save(changed, "", all);
    for (auto& [key, value] : changed.changed()) {
      if (value) written += value->size();
      if (value) rows.insert_or_assign(key, *value);
      if (!value) rows.erase(key);
    }
  }
  RecentSamples load() const {
    RecentSamples samples;
    for (const auto& [key, value] : rows) {
      EXPECT_TRUE(samples.load(*number_in<std::uint64_t>(key), StateIo::loading(value)));
    }
    return samples;
  }
};

TEST(RecentSamples, AReloadedOneKnowsTheSameSamples) {
  std::mt19937 random{12};
  RecentSamples samples;
  Store store;
  for (int round = 0; round < 300; ++round) {
    for (auto count = random() % 100; count > 0; --count) {
      (void)samples.add(sampled(static_cast<std::int64_t>(random() % 2000)));
    }
    store.save(samples, random() % 20 == 0);
    if (round % 10 != 0) continue;
    RecentSamples live = samples;
    RecentSamples loaded = store.load();
    for (int number = 0; number < 2000; ++number) {
      ASSERT_EQ(live.add(sampled(number)), loaded.add(sampled(number))) << round;
    }
    if (random() % 2 == 0) samples = store.load();
  }
}

// 4 KiB for each commit were a third of all bytes that a busy daemon wrote.
TEST(RecentSamples, ACommitCostsAFewHashesForEachSample) {
  RecentSamples samples;
  Store store;
  constexpr int kSamples = 100'000;
  for (int number = 0; number < kSamples; ++number) {
    (void)samples.add(sampled(number));
    if (number % 20 == 0) store.save(samples, false);
  }
  EXPECT_LT(store.written, kSamples * 6 * sizeof(std::uint64_t));
}

}  // namespace trainwatch::duplicate_cache_test
