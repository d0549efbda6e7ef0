// From the dumps of ranks to one alert: in any order, across restarts, and its end.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "pipeline/engine/alert_json.h"
#include "pipeline/engine/engine.h"
#include "rules/catalog.h"
#include "support/engine_state.h"

namespace trainwatch::collective_hang_test {
namespace {

constexpr Time kCalled = time_from_ns(1'700'000'000'000'000'000);
constexpr Time kDumped = kCalled + std::chrono::seconds(182);

// Rank 2 of four has not entered the 17th all_reduce; `over`: all have finished it.
RankDump dump(std::int32_t rank, bool over = false) {
  RankDump made{rank, over ? kDumped + std::chrono::minutes(5) : kDumped, "2.9", {}};
  const std::int64_t enqueued = rank == 2 ? 16 : 17;
  FlightGroup group{"0", "default_pg", {0, 1, 2, 3}, FlightProgress{enqueued, 16}, {}};
  if (over) group.progress = FlightProgress{17, 17};
  FlightOperation call;
  call.sequence = 17;
  call.name = "all_reduce";
  call.created = kCalled;
  call.timeout_ms = 600000;
  if (rank != 2 && !over) group.operations.push_back(call);
  made.groups.push_back(group);
  return made;
}

std::vector<RuleConfig> rules() {
  return {RuleConfig(*find_rule("collective_hang"))};
}

void take(Engine& engine, std::vector<Alert>& alerts) {
  engine.flush();
  for (Alert& alert : engine.take_emitted()) alerts.push_back(std::move(alert));
}

TEST(CollectiveHang, OneAlertInAnyOrderAndAcrossRestarts) {
  std::string first;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<std::int32_t> order = {0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    auto engine = std::make_unique<Engine>(rules());
    std::vector<Alert> alerts;
    for (const std::int32_t rank : order) {
      engine->on("job", dump(rank));
      take(*engine, alerts);
      auto restarted = std::make_unique<Engine>(rules());
      ASSERT_TRUE(restarted->load(test::saved(*engine)));
      engine = std::move(restarted);
    }
    engine->end_of_input();
    take(*engine, alerts);
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_EQ(alerts[0].verdict.severity, Severity::critical);
    EXPECT_NE(alerts[0].verdict.evidence.find(R"("suspects":[2],"waiting":"0-1,3")"),
              std::string::npos)
        << alerts[0].verdict.evidence;
    const std::string json = to_json(alerts[0], "");
    if (first.empty()) first = json;
    EXPECT_EQ(json, first);
  }
}

TEST(CollectiveHang, IncompleteDumpsAreJudgedWhenNoMoreCome) {
  Engine engine(rules());
  std::vector<Alert> alerts;
  for (const std::int32_t rank : {0, 2, 3}) engine.on("job", dump(rank));
  engine.tick(kDumped + std::chrono::seconds(5));
  take(engine, alerts);
  EXPECT_TRUE(alerts.empty());
  engine.tick(kDumped + std::chrono::seconds(11));
  take(engine, alerts);
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_NE(alerts[0].verdict.evidence.find(R"("no_dump":"1")"), std::string::npos);
  engine.tick(kDumped + std::chrono::seconds(12));
  take(engine, alerts);
  EXPECT_EQ(alerts.size(), 1U);
}

TEST(CollectiveHang, EndsWhenNewerDumpsShowNobodyWaiting) {
  Engine engine(rules());
  std::vector<Alert> alerts;
  for (const std::int32_t rank : {0, 1, 2, 3}) engine.on("job", dump(rank));
  for (const std::int32_t rank : {0, 1, 2, 3}) engine.on("job", dump(rank, true));
  engine.end_of_input();
  take(engine, alerts);
  ASSERT_FALSE(alerts.empty());
  EXPECT_EQ(alerts.back().state, Alert::State::resolved);
  for (const Alert& alert : alerts) EXPECT_EQ(alert.id, alerts[0].id);
}

TEST(CollectiveHang, HealthyDumpsSayNothing) {
  Engine engine(rules());
  std::vector<Alert> alerts;
  for (const std::int32_t rank : {0, 1, 2, 3}) engine.on("job", dump(rank, true));
  engine.end_of_input();
  take(engine, alerts);
  EXPECT_TRUE(alerts.empty());
}

TEST(CollectiveHang, DamagedStateIsRefused) {
  Engine engine(rules());
  for (const std::int32_t rank : {0, 1, 3}) engine.on("job", dump(rank));
  const StoredRows good = test::saved(engine);
  const std::string row = good.at("hangs");
  for (std::size_t size = 0; size < row.size(); ++size) {
    StoredRows damaged = good;
    damaged.insert_or_assign("hangs", row.substr(0, size));
    Engine loaded(rules());
    EXPECT_FALSE(loaded.load(damaged)) << size;
  }
}

}  // namespace
}  // namespace trainwatch::collective_hang_test
