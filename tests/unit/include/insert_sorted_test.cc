// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/insert_sorted.h"

#include <gtest/gtest.h>

#include <deque>
#include <utility>
#include <vector>

namespace trainwatch::insert_sorted_test {

TEST(InsertSorted, KeepsTheOrder) {
  std::vector<int> sorted;
  for (const int value : {3, 1, 2, 5, 4, 0}) insert_sorted(sorted, value);
  EXPECT_EQ(sorted, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(insert_sorted(sorted, 2) - sorted.begin(), 3) << "behind the one that is there";
  EXPECT_EQ(insert_sorted(sorted, 9) - sorted.begin(), 7);
}

TEST(InsertSorted, EqualKeysStayInTheOrderInWhichTheyCame) {
  using Entry = std::pair<int, char>;
  std::deque<Entry> sorted;
  for (const Entry& entry : std::vector<Entry>{{2, 'a'}, {2, 'b'}, {1, 'c'}, {2, 'd'}, {1, 'e'}}) {
    insert_sorted(sorted, entry, &Entry::first);
  }
  EXPECT_EQ(sorted, (std::deque<Entry>{{1, 'c'}, {1, 'e'}, {2, 'a'}, {2, 'b'}, {2, 'd'}}));
}

}  // namespace trainwatch::insert_sorted_test
