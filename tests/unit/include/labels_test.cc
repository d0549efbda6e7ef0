// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/labels.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainwatch::labels_test {

TEST(Labels, AreReadAsTheyWereAdded) {
  const std::string any("\0=\",\xff\n", 6);
  const Labels labels{{"node", "algo-1"}, {"", ""}, {"rank", any}};
  const std::vector<Labels::Label> expected{{"node", "algo-1"}, {"", ""}, {"rank", any}};
  EXPECT_EQ(std::vector<Labels::Label>(labels.begin(), labels.end()), expected);

  Labels more;
  EXPECT_TRUE(more.begin() == more.end());
  more.add("node", "algo-1");
  more.add(Labels{{"", ""}, {"rank", any}});
  EXPECT_EQ(more, labels);
}

// Not by their sizes: a page is sorted by the labels.
TEST(Labels, AreOrderedByNameAndThenByValue) {
  EXPECT_LT((Labels{{"a", "longer"}}), (Labels{{"b", ""}}));
  EXPECT_LT((Labels{{"a", "10"}}), (Labels{{"a", "9"}}));
  EXPECT_LT((Labels{{"a", "9"}}), (Labels{{"a", "9"}, {"b", ""}}));
  EXPECT_LT(Labels{}, (Labels{{"", ""}}));
}

}  // namespace trainwatch::labels_test
