// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/counter_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "unit/cycle/hand_made_cycle.h"

namespace trainwatch::counter_events_test {

using testing::ElementsAre;

std::vector<std::string> counters(const CycleTrace& cycle,
                                  StepSelection steps = StepSelection::all) {
  std::vector<std::string> events;
  emit_counters(cycle, steps, [&events](std::string_view event) { events.emplace_back(event); });
  return events;
}

TEST(MicrosText, IsExact) {
  EXPECT_EQ(micros_text(0), "0");
  EXPECT_EQ(micros_text(1), "0.001");
  EXPECT_EQ(micros_text(-1), "-0.001");
  EXPECT_EQ(micros_text(12'345), "12.345");
  EXPECT_EQ(micros_text(-12'050), "-12.050");
  EXPECT_EQ(micros_text(1'712'195'495'505'582'988), "1712195495505582.988");
  EXPECT_EQ(micros_text(1'669'783'687'464'181'000), "1669783687464181");
  EXPECT_EQ(micros_text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775.808");
}

TEST(CounterEvents, QueueLengthOfEachStream) {
  HandMadeCycle built;
  built.compute({20, 5, 7, built.launch(10)}).compute({30, 5, 7, built.launch(12)});
  built.compute({50, 5, 20, built.launch(40)});
  EXPECT_THAT(
      counters(built.build()),
      ElementsAre(
          R"({"ph":"C","name":"Queue Length","pid":0,"id":7,"ts":10,"args":{"Queue Length":1}})",
          R"({"ph":"C","name":"Queue Length","pid":0,"id":7,"ts":12,"args":{"Queue Length":2}})",
          R"({"ph":"C","name":"Queue Length","pid":0,"id":7,"ts":20,"args":{"Queue Length":1}})",
          R"({"ph":"C","name":"Queue Length","pid":0,"id":7,"ts":30,"args":{"Queue Length":0}})",
          R"({"ph":"C","name":"Queue Length","pid":0,"id":20,"ts":40,"args":{"Queue Length":1}})",
          R"({"ph":"C","name":"Queue Length","pid":0,"id":20,"ts":50,"args":{"Queue Length":0}})"));
}

TEST(CounterEvents, BandwidthByKind) {
  HandMadeCycle built;
  built.copy({10, 20}, 2.5F, "Memcpy HtoD (Pageable -> Device)");
  built.copy({15, 5}, 1.25F, "Memcpy HtoD (Pinned -> Device)").copy({40, 0}, 4, "Memset (Device)");
  const auto event = [](const std::string& kind, const std::string& ts, const std::string& gbps) {
    return R"({"ph":"C","name":"Memcpy BW","pid":0,"id":")" + kind + R"(","ts":)" + ts +
           R"(,"args":{"Memcpy BW":)" + gbps + "}}";
  };
  EXPECT_THAT(counters(built.build()),
              ElementsAre(event("Memcpy HtoD", "10", "2.5"), event("Memcpy HtoD", "15", "3.75"),
                          event("Memcpy HtoD", "20", "2.5"), event("Memcpy HtoD", "30", "0"),
                          event("Memset", "40", "4"), event("Memset", "41", "0")));
}

TEST(CounterEvents, TimesAreThoseOfTheFile) {
  HandMadeCycle built;
  built.compute({1000, 5, 7, built.launch(900)});
  CycleTrace cycle = built.build();
  cycle.base_ns = 899'999;
  const auto events = counters(cycle);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_THAT(events[0], testing::HasSubstr("\"ts\":0.001,"));
  EXPECT_THAT(events[1], testing::HasSubstr("\"ts\":100.001,"));
}

TEST(CounterEvents, EachDeviceHasItsOwn) {
  HandMadeCycle built;
  built.compute({20, 5, 7, built.launch(10)}).compute({30, 5, 7, built.launch(12)});
  CycleTrace cycle = built.build();
  cycle.places[cycle.device[1].place].device = 3;
  const auto events = counters(cycle);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_THAT(events[0], testing::HasSubstr("\"pid\":0,\"id\":7,\"ts\":10,"));
  EXPECT_THAT(events[2], testing::HasSubstr("\"pid\":3,\"id\":7,\"ts\":12,"));
  EXPECT_THAT(events[2], testing::HasSubstr("{\"Queue Length\":1}"));
}

TEST(CounterEvents, OfTheStepsThatAreAskedFor) {
  HandMadeCycle built;
  built.step(1, 0, 100).step(2, 100, 100);
  for (const std::int64_t at : {50, 150, 250}) built.compute({at, 5, 7, built.launch(at - 10)});
  const CycleTrace cycle = built.build();
  EXPECT_EQ(counters(cycle, StepSelection::all).size(), 6U);
  EXPECT_EQ(counters(cycle, StepSelection::included).size(), 4U);
  EXPECT_EQ(counters(cycle, StepSelection::without_last).size(), 2U);
}

TEST(CounterEvents, WithoutActivityThereAreNone) {
  EXPECT_TRUE(counters(CycleTrace{}).empty());
}

}  // namespace trainwatch::counter_events_test
