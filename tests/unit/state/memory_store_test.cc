#include "pipeline/state/memory_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainwatch {
namespace {

Commit telling(std::vector<std::string> ids) {
  Commit commit;
  for (const std::string& id : ids) commit.alerts.emplace_back().id = id;
  return commit;
}

TEST(MemoryStore, NumbersAlertsInOneSequence) {
  MemoryStore store("epoch-1");
  const auto first = store.commit(telling({"a", "b"}));
  const auto second = store.commit(telling({"c"}));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->at(0)->seq, 1U);
  EXPECT_EQ(first->at(1)->seq, 2U);
  EXPECT_EQ(second->at(0)->seq, 3U);
  EXPECT_THAT(second->at(0)->json, testing::HasSubstr(R"("seq":3,"epoch":"epoch-1")"));
}

}  // namespace
}  // namespace trainwatch
