// SPDX-License-Identifier: Apache-2.0
// From the dumps of ranks to one alert: in any order, across restarts, and its end.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
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

Event step(Engine& engine, Time begin, std::int64_t number = 18) {
  Span made;
  made.kind = SpanKind::step;
  made.mode = Mode::train;
  made.subject = *engine.interner().subjects.intern({"job", "algo-1", 0, ""});
  made.start = begin;
  made.duration = std::chrono::milliseconds(900);
  made.step = number;
  return made;
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
    const std::string json = to_json(alerts[0]);
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

WatchdogLine timeout(std::int32_t rank) {
  WatchdogLine line;
  line.rank = rank;
  line.at = kDumped;
  line.operation = "ALLREDUCE";
  line.sequence = 17;
  line.timeout_ms = line.ran_ms = 180'000;
  return line;
}
WatchdogLine progress(std::int32_t rank, std::int64_t enqueued) {
  WatchdogLine line;
  line.kind = WatchdogLine::Kind::progress;
  line.rank = rank;
  line.at = kDumped;
  line.group = "0";
  line.description = "default_pg";
  line.enqueued = enqueued;
  line.completed = 16;
  line.sequence = enqueued == 17 ? 17 : -1;
  return line;
}

// In any order, across restarts; then a step that begins later.
TEST(CollectiveHang, LinesOfTheWatchdogWithoutAnyDump) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<WatchdogLine> lines;
    for (const std::int32_t rank : {0, 1, 3}) {
      lines.push_back(timeout(rank));
      lines.push_back(progress(rank, 17));
      lines.push_back(timeout(rank));  // printed twice
    }
    lines.push_back(progress(2, 16));
    std::shuffle(lines.begin(), lines.end(), std::mt19937(seed));
    auto engine = std::make_unique<Engine>(rules());
    std::vector<Alert> alerts;
    for (const WatchdogLine& line : lines) {
      engine->on("job", line);
      auto restarted = std::make_unique<Engine>(rules());
      ASSERT_TRUE(restarted->load(test::saved(*engine)));
      engine = std::move(restarted);
    }
    engine->tick(kDumped + std::chrono::seconds(5));
    take(*engine, alerts);
    EXPECT_TRUE(alerts.empty());
    engine->tick(kDumped + std::chrono::seconds(11));
    take(*engine, alerts);
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_EQ(alerts[0].verdict.summary,
              "Rank 2 has not entered ALLREDUCE #17 of default_pg; 3 wait since 3 min.");
    EXPECT_EQ(alerts[0].verdict.cause.name, CauseName::collective_hang);
    engine->push(std::vector<Event>{step(*engine, kDumped + std::chrono::seconds(20))});
    engine->end_of_input();
    take(*engine, alerts);
    EXPECT_EQ(alerts.back().state, Alert::State::resolved);
    EXPECT_EQ(alerts.back().id, alerts.front().id);
  }
}

TEST(CollectiveHang, LinesThatSayNoMoreThanWhoWaits) {
  Engine engine(rules());
  std::vector<Alert> alerts;
  for (const std::int32_t rank : {0, 1, 3}) engine.on("job", timeout(rank));
  engine.end_of_input();
  take(engine, alerts);
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_EQ(alerts[0].verdict.summary,
            "Rank 2 has said nothing; ranks 0-1,3 wait in ALLREDUCE #17 since 3 min.");
  EXPECT_NE(alerts[0].verdict.evidence.find(R"("suspects":[2])"), std::string::npos);
  EXPECT_NE(alerts[0].verdict.evidence.find(R"("confidence":"low")"), std::string::npos);
}

TEST(CollectiveHang, ManyRanksWithoutALineAreNotNamed) {
  Engine engine(rules());
  std::vector<Alert> alerts;
  for (const std::int32_t rank : {0, 1, 4}) engine.on("job", timeout(rank));
  engine.end_of_input();
  take(engine, alerts);
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_EQ(alerts[0].verdict.summary,
            "Ranks 0-1,4 wait in ALLREDUCE #17 for 3 min; there are no dumps that say for whom.");
  EXPECT_NE(alerts[0].verdict.evidence.find(R"("suspects":[])"), std::string::npos);
}

// No gap shows that there is one more rank; its launcher said so.
TEST(CollectiveHang, TheLastRankIsSilent) {
  Engine engine(rules());
  std::vector<Alert> alerts;
  RunNote note{.at = kDumped - std::chrono::hours(1), .kind = RunNote::Kind::launched};
  note.subject = *engine.interner().subjects.intern({"job", "", kNoRank, ""});
  note.world_size = 4;
  SourceNote event{note.at, LaneId{}, SourceNote::Kind::run_note, note.subject};
  event.number = engine.announce(std::move(note));
  engine.push(std::vector<Event>{event});
  for (const std::int32_t rank : {0, 1, 2}) engine.on("job", timeout(rank));
  engine.end_of_input();
  take(engine, alerts);
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_EQ(alerts[0].verdict.summary,
            "Rank 3 has said nothing; ranks 0-2 wait in ALLREDUCE #17 since 3 min.");
}

TEST(CollectiveHang, ALineMayNotSayTheNumberOfTheCall) {
  Engine engine(rules());
  std::vector<Alert> alerts;
  for (const std::int32_t rank : {0, 1, 2, 4}) {
    WatchdogLine line = timeout(rank);
    line.sequence = -1;
    engine.on("job", line);
  }
  engine.end_of_input();
  take(engine, alerts);
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_EQ(alerts[0].verdict.summary,
            "Rank 3 has said nothing; ranks 0-2,4 wait in ALLREDUCE since 3 min.");
  EXPECT_EQ(alerts[0].verdict.evidence.find("sequence"), std::string::npos);
}

TEST(CollectiveHang, LinesWithoutATimeoutSayNothing) {
  Engine engine(rules());
  std::vector<Alert> alerts;
  for (const std::int32_t rank : {0, 1, 2}) engine.on("job", progress(rank, rank == 2 ? 16 : 17));
  engine.end_of_input();
  take(engine, alerts);
  EXPECT_TRUE(alerts.empty());
}

// With all dumps, the alert is the one without any lines.
TEST(CollectiveHang, LinesAddNothingToAllDumps) {
  std::string first;
  for (const bool lines : {false, true}) {
    Engine engine(rules());
    std::vector<Alert> alerts;
    if (lines) engine.on("job", timeout(2));
    for (const std::int32_t rank : {0, 1, 2, 3}) engine.on("job", dump(rank));
    if (lines) engine.on("job", progress(1, 3));
    engine.end_of_input();
    take(engine, alerts);
    ASSERT_EQ(alerts.size(), 1U);
    const std::string json = to_json(alerts[0]);
    if (first.empty()) first = json;
    EXPECT_EQ(json, first);
  }
}

// The timeline is read before the dumps, or after them.
TEST(CollectiveHang, AStallIsAPartOfIt) {
  for (const bool dumps_first : {true, false}) {
    Engine engine({RuleConfig(*find_rule("collective_hang")), RuleConfig(*find_rule("stall"))});
    std::vector<Alert> alerts;
    const auto hang = [&] {
      for (const std::int32_t rank : {0, 1, 2, 3}) engine.on("job", dump(rank));
    };
    std::vector<Event> before;
    for (int i = 0; i < 100; ++i) {
      before.push_back(step(engine, kCalled - std::chrono::seconds(100 - i), i));
    }
    engine.push(before);
    engine.tick(kCalled + std::chrono::seconds(1));
    if (dumps_first) hang();
    engine.tick(kCalled + std::chrono::seconds(60));
    take(engine, alerts);
    engine.push(std::vector<Event>{step(engine, kDumped + std::chrono::seconds(20), 100)});
    if (!dumps_first) hang();
    engine.end_of_input();
    take(engine, alerts);
    std::map<std::string, Alert> last;
    for (const Alert& alert : alerts) last[alert.rule] = alert;
    ASSERT_EQ(last.size(), 2U);
    const Alert& speaker = last.at("collective_hang");
    EXPECT_EQ(last.at("stall").incident, speaker.id);
    EXPECT_EQ(speaker.incident, speaker.id);
    EXPECT_EQ(speaker.state, Alert::State::resolved);
    EXPECT_EQ(last.at("stall").state, Alert::State::resolved);
  }
}

// A second dump of a rank replaces the first one: now another rank is behind.
TEST(CollectiveHang, DumpsAreWrittenAgainInPlace) {
  Engine engine(rules());
  std::vector<Alert> alerts;
  for (const std::int32_t rank : {0, 1, 2, 3}) engine.on("job", dump(rank));
  for (const std::int32_t rank : {0, 1, 2, 3}) {
    RankDump again = dump(rank == 2 ? 1 : rank == 1 ? 2 : rank);
    again.rank = rank;
    again.written = kDumped + std::chrono::seconds(400);
    engine.on("job", again);
  }
  engine.end_of_input();
  take(engine, alerts);
  ASSERT_GE(alerts.size(), 2U);
  EXPECT_NE(alerts.back().verdict.evidence.find(R"("suspects":[1])"), std::string::npos);
  EXPECT_EQ(alerts.back().id, alerts.front().id);
}

TEST(CollectiveHang, DamagedStateIsRefused) {
  Engine engine(rules());
  for (const std::int32_t rank : {0, 1, 3}) engine.on("job", dump(rank));
  engine.on("job", timeout(2));
  const StoredRows good = test::saved(engine);
  int rows = 0;
  for (const auto& [key, row] : good) {
    if (!key.starts_with("hang")) continue;
    ++rows;
    for (std::size_t size = 0; size < row.size(); ++size) {
      StoredRows damaged = good;
      damaged.insert_or_assign(key, row.substr(0, size));
      Engine loaded(rules());
      EXPECT_FALSE(loaded.load(damaged)) << key << " " << size;
    }
  }
  EXPECT_EQ(rows, 5);
}

}  // namespace
}  // namespace trainwatch::collective_hang_test
