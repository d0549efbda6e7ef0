// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/flight_recorder/rank_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "trainwatch/state_io.h"

namespace trainwatch::rank_list_test {
namespace {

std::string saved(RankList list) {
  StateIo io = StateIo::saving();
  io(list);
  return io.take();
}

TEST(RankList, HoldsWhatItWasMadeOf) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 500; ++trial) {
    std::set<std::int32_t> ranks;
    std::vector<std::int32_t> listed;
    for (auto i = random() % 40; i > 0; --i) {
      listed.push_back(static_cast<std::int32_t>(random() % 60));
      ranks.insert(listed.back());
    }
    const RankList list(listed);
    EXPECT_EQ(list.all(), std::vector<std::int32_t>(ranks.begin(), ranks.end()));
    EXPECT_EQ(list.size(), ranks.size());
    for (std::int32_t rank = -1; rank < 61; ++rank) {
      EXPECT_EQ(list.contains(rank), ranks.contains(rank));
    }
    RankList loaded;
    const std::string bytes = saved(list);
    StateIo io = StateIo::loading(bytes);
    io(loaded);
    EXPECT_TRUE(io.complete());
    EXPECT_EQ(loaded, list);
    EXPECT_EQ(loaded.size(), list.size());
  }
}

TEST(RankList, AWholeJobTakesAsLittleRoomAsAPair) {
  std::vector<std::int32_t> all;
  std::vector<std::int32_t> every_eighth;
  for (std::int32_t rank = 0; rank < 10'000; ++rank) {
    all.push_back(rank);
    if (rank % 8 == 3) every_eighth.push_back(rank);
  }
  EXPECT_LT(saved(all).size(), 32U);
  EXPECT_LT(saved(every_eighth).size(), 32U);
}

TEST(RankList, RefusesDamage) {
  const std::string whole = saved({0, 1, 2, 3, 9, 11, 13});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char bits : {'\x01', '\x40', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ bits);
      RankList list;
      StateIo io = StateIo::loading(damaged);
      io(list);
      if (!io.complete()) continue;
      const auto ranks = list.all();
      EXPECT_TRUE(std::ranges::is_sorted(ranks));
      EXPECT_EQ(ranks.size(), list.size());
    }
  }
}

}  // namespace
}  // namespace trainwatch::rank_list_test
