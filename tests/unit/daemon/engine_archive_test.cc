// SPDX-License-Identifier: Apache-2.0
// What the net half asks of the engine thread's store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "daemon/app/engine_thread.h"
#include "support/memory_store.h"

namespace trainwatch::engine_archive_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

EngineThread::Callbacks silence() {
  EngineThread::Callbacks callbacks;
  callbacks.alerts = [](const PublishedAlerts&, std::uint64_t) {};
  callbacks.provisional = [](const PublishedAlerts&) {};
  callbacks.snapshot = [](const std::shared_ptr<Snapshot>&) {};
  callbacks.store_failed = [](const std::string&) {};
  callbacks.store_recovered = [] {};
  callbacks.store_broken = [](const std::string&) {};
  return callbacks;
}

TEST(EngineThread, ReadsPagesOfTheStore) {
  auto store = std::make_unique<MemoryStore>("e");
  Commit commit;
  commit.now = std::chrono::time_point_cast<Nanos>(std::chrono::system_clock::now());
  for (const char* id : {"a", "b", "c", "d"}) commit.alerts.emplace_back().id = id;
  ASSERT_TRUE(store->commit(commit).ok());
  EngineThread engine({"1", {}, {}}, std::move(store), silence());
  ASSERT_TRUE(engine.start().ok());
  std::promise<Result<PublishedAlerts>> answer;
  engine.fetch_alerts(1, 2, [&](Result<PublishedAlerts> page) { answer.set_value(page); });
  const auto page = answer.get_future().get();
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->size(), 2U);
  EXPECT_EQ(page->at(0)->seq, 2U);
  EXPECT_THAT(page->at(1)->json, HasSubstr(R"("seq":3)"));
}

TEST(EngineThread, StoresAcknowledgementsAndTriesAgain) {
  auto owned = std::make_unique<MemoryStore>("e");
  MemoryStore& store = *owned;  // touched only where the engine thread waits for us
  EngineThread engine({"1", {}, {}}, std::move(owned), silence());
  ASSERT_TRUE(engine.start().ok());
  Acknowledged stored;
  const auto on_engine = [&](const std::function<void()>& task) {
    std::promise<void> done;
    engine.fetch_alerts(0, 0, [&](const Result<PublishedAlerts>&) {
      task();
      done.set_value();
    });
    done.get_future().wait();
  };
  on_engine([&] { store.fail("disk full"); });
  engine.acknowledge("pager", 3);
  on_engine([&] { store.fail(""); });
  engine.acknowledge("cron", 1);
  on_engine([&] { stored = store.acknowledged(); });
  EXPECT_THAT(stored, ElementsAre(Pair("cron", 1), Pair("pager", 3)));
}

}  // namespace trainwatch::engine_archive_test
