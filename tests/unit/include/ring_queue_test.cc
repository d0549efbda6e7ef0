// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/ring_queue.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace trainwatch::ring_queue_test {

TEST(RingQueue, IsAQueue) {
  std::mt19937 random(1);
  RingQueue<int> queue;
  std::deque<int> model;
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t most = i < 5'000 ? 9 : 70;
    if (model.size() < most && random() % 2 == 0) {
      queue.push_back(i);
      model.push_back(i);
    } else if (!model.empty()) {
      queue.pop_front();
      model.pop_front();
    }
    ASSERT_EQ(queue.empty(), model.empty());
    ASSERT_TRUE(std::equal(queue.begin(), queue.end(), model.begin(), model.end()));
    if (model.empty()) continue;
    ASSERT_EQ(queue.front(), model.front());
    ASSERT_EQ(queue.back(), model.back());
  }
}

TEST(RingQueue, StateSurvives) {
  RingQueue<int> queue;
  for (int i = 0; i < 6; ++i) queue.push_back(i);
  queue.pop_front();
  queue.pop_front();
  for (int i = 6; i < 9; ++i) queue.push_back(i);
  StateIo saving = StateIo::saving();
  saving(queue);
  const std::string bytes = saving.take();
  RingQueue<int> restored;
  StateIo loading = StateIo::loading(bytes);
  loading(restored);
  ASSERT_TRUE(loading.complete());
  restored.push_back(9);
  EXPECT_EQ(std::vector<int>(restored.begin(), restored.end()),
            (std::vector<int>{2, 3, 4, 5, 6, 7, 8, 9}));
}

}  // namespace trainwatch::ring_queue_test
