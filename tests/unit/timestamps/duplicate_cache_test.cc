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

}  // namespace trainwatch::duplicate_cache_test
