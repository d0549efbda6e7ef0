// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/event_mover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainwatch::event_mover_test {

using testing::ElementsAre;

std::vector<std::string> missing(const ProcessNumbers& processes) {
  std::vector<std::string> events;
  processes.emit_missing([&events](std::string_view event) { events.emplace_back(event); });
  return events;
}

TEST(EventMover, ProcessesOfTwoRanksAreNumberedApart) {
  ProcessNumbers processes;
  EventMover first(processes, processes.group("rank 0"), 0, 0);
  EventMover second(processes, processes.group("rank 1"), 1, 0);
  EXPECT_EQ(first.move(R"({"ph": "X", "pid": 0, "tid": 7})"), R"({"ph": "X", "pid": 1, "tid": 7})");
  EXPECT_EQ(second.move(R"({"ph": "X", "pid": 0, "tid": 7})"),
            R"({"ph": "X", "pid": 2, "tid": 7})");
  EXPECT_EQ(second.move(R"({"pid": "Spans", "ph": "X"})"), R"({"pid": 3, "ph": "X"})");
  EXPECT_EQ(first.move(R"({"ph": "C", "pid": 0})"), R"({"ph": "C", "pid": 1})");
}

TEST(EventMover, TwoTracesOfARankShareItsProcesses) {
  ProcessNumbers processes;
  EventMover first(processes, processes.group("rank 0"), 0, 0);
  EventMover second(processes, processes.group("rank 0"), 1, 0);
  EXPECT_EQ(first.move(R"({"pid": 41})"), R"({"pid": 1})");
  EXPECT_EQ(second.move(R"({"pid": 41})"), R"({"pid": 1})");
}

TEST(EventMover, NamesBeginWithTheRankAndStandTogether) {
  ProcessNumbers processes;
  processes.group("rank 0");
  EventMover mover(processes, processes.group("rank \"1\""), 0, 0);
  EXPECT_EQ(
      mover.move(R"({"args": {"name": "py\"thon"}, "name": "process_name", "ph": "M", "pid": 4})"),
      R"({"args": {"name": "rank \"1\": py\"thon"}, "name": "process_name", "ph": "M", "pid": 1})");
  EXPECT_EQ(
      mover.move(
          R"({"name": "process_sort_index", "ph": "M", "pid": 4, "args": {"sort_index": 5000000}})"),
      R"({"name": "process_sort_index", "ph": "M", "pid": 1, "args": {"sort_index": 1}})");
  EXPECT_THAT(missing(processes), ElementsAre());
  const std::string thread =
      R"({"name": "thread_name", "ph": "M", "pid": 4, "args": {"name": "x"}})";
  EXPECT_EQ(mover.move(thread),
            R"({"name": "thread_name", "ph": "M", "pid": 1, "args": {"name": "x"}})");
}

TEST(EventMover, ProcessesWithoutANameGetOne) {
  ProcessNumbers processes;
  EventMover mover(processes, processes.group("rank 0"), 0, 0);
  mover.move(R"({"pid": 41})");
  mover.move(R"({"pid": "Spans"})");
  EXPECT_THAT(
      missing(processes),
      ElementsAre(R"({"ph":"M","name":"process_name","pid":2,"args":{"name":"rank 0: Spans"}})",
                  R"({"ph":"M","name":"process_sort_index","pid":2,"args":{"sort_index":0}})",
                  R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"rank 0: 41"}})",
                  R"({"ph":"M","name":"process_sort_index","pid":1,"args":{"sort_index":0}})"));
}

TEST(EventMover, FlowsOfTwoTracesDoNotMeet) {
  ProcessNumbers processes;
  EventMover first(processes, processes.group("a"), 0, 0);
  EventMover second(processes, processes.group("b"), 1, 0);
  EXPECT_EQ(first.move(R"({"ph": "s", "id": 5})"), R"({"ph": "s", "id": 5})");
  EXPECT_EQ(second.move(R"({"ph": "f", "id": 5, "bp": "e"})"),
            R"({"ph": "f", "id": 1099511627781, "bp": "e"})");
  EXPECT_EQ(second.move(R"({"ph": "s", "id": "x"})"), R"({"ph": "s", "id": "1:x"})");
  EXPECT_EQ(second.move(R"({"ph": "s", "id": -1})"), R"({"ph": "s", "id": "1:-1"})");
  // A counter's id is within its process.
  EXPECT_EQ(second.move(R"({"ph": "C", "id": 5})"), R"({"ph": "C", "id": 5})");
}

TEST(EventMover, TimesMoveToAnotherBaseExactly) {
  ProcessNumbers processes;
  EventMover mover(processes, processes.group("a"), 0, -1'500);
  EXPECT_EQ(mover.move(R"({"ph": "X", "ts": 4458676416788.066, "dur": 2.5})"),
            R"({"ph": "X", "ts": 4458676416786.566, "dur": 2.5})");
  EXPECT_EQ(mover.move(R"({"ph": "X", "ts": 1, "dur": 2})"),
            R"({"ph": "X", "ts": -0.500, "dur": 2})");
  EXPECT_EQ(mover.move(R"({"ph": "M", "ts": 0})"), R"({"ph": "M", "ts": 0})");
}

TEST(EventMover, HasABoundOnProcesses) {
  ProcessNumbers long_ones;
  EventMover of_long_ones(long_ones, long_ones.group("a"), 0, 0);
  for (const char c : {'x', 'y'})
    EXPECT_EQ(of_long_ones.move("{\"pid\":\"" + std::string(1000, c) + "\"}"), R"({"pid":1})");
  ProcessNumbers processes;
  EventMover mover(processes, processes.group("a"), 0, 0);
  for (int i = 0; i < 70'000; ++i) mover.move("{\"pid\":" + std::to_string(i) + '}');
  EXPECT_EQ(missing(processes).size(), 2U * 65'537U);
  EXPECT_EQ(mover.move(R"({"pid":3})"), R"({"pid":4})");
}

}  // namespace trainwatch::event_mover_test
