// SPDX-License-Identifier: Apache-2.0
// Lines of NCCL's watchdog as versions of PyTorch print them, and what they say without dumps.
#include "pipeline/decode/flight_recorder/watchdog_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pipeline/hang/hang_analysis.h"

namespace trainwatch::watchdog_line_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = WatchdogLine::Kind;
using Found = HangFinding::Kind;

// PyTorch 2.0, NVIDIA/Megatron-LM#1207 and others: neither time nor rank of the job.
const std::string kOldest =
    "[E ProcessGroupNCCL.cpp:828] [Rank 3] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=1589, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800519 milliseconds "
    "before timing out.";
// 2.1 to 2.3: sizes, and the rank of the job.
const std::string kSizes =
    "[rank5]:[E ProcessGroupNCCL.cpp:523] [Rank 1] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=6, OpType=_ALLGATHER_BASE, NumelIn=1024, NumelOut=2048, Timeout(ms)=600000) "
    "ran for 600410 milliseconds before timing out.";
// From 2.4 on: with a time.
const std::string kTimed =
    "[rank6]:[E709 17:05:38.162814866 ProcessGroupNCCL.cpp:685] [Rank 6] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum=35, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
    "Timeout(ms)=600000) ran for 600029 milliseconds before timing out.";

// Until 1.13: no number of the call; a shape in some.
TEST(WatchdogLine, ReadsTheOldestWordings) {
  for (const std::string shape : {"", ", TensorShape=[1, 3]"}) {
    const auto line = parse_watchdog_line(
        "[E ProcessGroupNCCL.cpp:566] [Rank 4] Watchdog caught collective operation timeout: "
        "WorkNCCL(OpType=ALLREDUCE" +
        shape + ", Timeout(ms)=1800000) ran for 1800044 milliseconds before timing out.");
    ASSERT_TRUE(line) << shape;
    EXPECT_EQ(line->kind, Kind::timeout);
    EXPECT_EQ(line->group_rank, 4);
    EXPECT_EQ(line->sequence, -1);
    EXPECT_EQ(line->operation, "ALLREDUCE");
    EXPECT_EQ(line->timeout_ms, 1'800'000);
    EXPECT_EQ(line->ran_ms, 1'800'044);
  }
}

TEST(WatchdogLine, ReadsWhoWaitedInWhat) {
  const auto oldest = parse_watchdog_line(kOldest);
  ASSERT_TRUE(oldest);
  EXPECT_EQ(oldest->kind, Kind::timeout);
  EXPECT_EQ(oldest->rank, kNoRank);
  EXPECT_EQ(oldest->group_rank, 3);
  EXPECT_EQ(oldest->sequence, 1589);
  EXPECT_EQ(oldest->operation, "ALLREDUCE");
  EXPECT_EQ(oldest->timeout_ms, 1'800'000);
  EXPECT_EQ(oldest->ran_ms, 1'800'519);
  EXPECT_EQ(oldest->elements_in, -1);
  EXPECT_EQ(watchdog_clock(kOldest), "");

  const auto sizes = parse_watchdog_line(kSizes);
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes->rank, 5);
  EXPECT_EQ(sizes->group_rank, 1);
  EXPECT_EQ(sizes->operation, "_ALLGATHER_BASE");
  EXPECT_EQ(sizes->elements_in, 1024);
  EXPECT_EQ(sizes->elements_out, 2048);

  const auto timed = parse_watchdog_line(kTimed);
  ASSERT_TRUE(timed);
  EXPECT_EQ(timed->rank, 6);
  EXPECT_EQ(timed->sequence, 35);
  EXPECT_EQ(watchdog_clock(kTimed), "7-09 17:05:38.162814866");
}

struct Wording {
  const char* text;
  std::int64_t failed;
  std::int64_t enqueued;
  std::int64_t completed;
  const char* group;
  const char* description;
  std::int32_t rank;
  std::int32_t group_rank;
};

TEST(WatchdogLine, ReadsHowFarARankIs) {
  const Wording wordings[] = {
      {"[rank0]:[E ProcessGroupNCCL.cpp:1182] [PG 0 Rank 0] Exception (either an error or timeout) "
       "detected by watchdog at work: 3, last enqueued NCCL work: 4, last completed NCCL work: 2.",
       3, 4, 2, "0", "", 0, 0},
      {"[rank1]:[E730 10:11:12.131415161 ProcessGroupNCCL.cpp:1664] [PG 0 (default_pg) Rank 1] "
       "Exception (either an error or timeout) detected by watchdog at work: 35, last enqueued "
       "NCCL work: 35, last completed NCCL work: 34.",
       35, 35, 34, "0", "default_pg", 1, 1},
      {"[rank9]:[E1103 06:19:20.123456789 ProcessGroupNCCL.cpp:1785] [PG ID 7 PG GUID "
       "21(TENSOR_MODEL_PARALLEL_GROUP) Rank 1] Exception (either an error or timeout) detected by "
       "watchdog at work: 7, last enqueued NCCL work: 8, last completed NCCL work: 6.",
       7, 8, 6, "21", "TENSOR_MODEL_PARALLEL_GROUP", 9, 1},
      {"[rank6]:[E709 17:05:38.162814866 ProcessGroupNCCL.cpp:2271] [PG ID 0 PG GUID "
       "0(default_pg) Rank 6]  failure detected by watchdog at work sequence id: 2 PG status: last "
       "enqueued work: 2, last completed work: 1",
       2, 2, 1, "0", "default_pg", 6, 6},
      {"[rank3]:[E709 17:05:38.162814866 ProcessGroupNCCL.cpp:1537] [PG ID 0 PG GUID "
       "0(default_pg) Rank 3] Received a dump signal due to a collective timeout from this local "
       "rank and we will try our best to dump the debug info. Last enqueued NCCL work: 2, last "
       "completed NCCL work: 1.This is most likely caused by incorrect usages of collectives",
       -1, 2, 1, "0", "default_pg", 3, 3},
      {"[rank2]:[E709 17:05:38.162814866 ProcessGroupNCCL.cpp:1537] [PG ID 0 PG GUID "
       "0(default_pg) Rank 2] Received a dump signal due to a collective timeout from  rank 3 and "
       "we will try our best to dump the debug info. Last enqueued NCCL work: 1, last completed "
       "NCCL work: 1.",
       -1, 1, 1, "0", "default_pg", 2, 2},
      {"[rank2]:[E709 17:05:38.1 ProcessGroupNCCL.cpp:1537] [PG ID 0 PG GUID 0 Rank 2] Received a "
       "dump signal due to a collective timeout from rank 3 and we will try our best. Last "
       "enqueued NCCL work: -1, last completed NCCL work: -1.",
       -1, -1, -1, "0", "", 2, 2},
  };
  for (const Wording& wording : wordings) {
    const auto line = parse_watchdog_line(wording.text);
    ASSERT_TRUE(line) << wording.text;
    EXPECT_EQ(line->kind, Kind::progress);
    EXPECT_EQ(line->sequence, wording.failed);
    EXPECT_EQ(line->enqueued, wording.enqueued);
    EXPECT_EQ(line->completed, wording.completed);
    EXPECT_EQ(line->group, wording.group);
    EXPECT_EQ(line->description, wording.description);
    EXPECT_EQ(line->rank, wording.rank);
    EXPECT_EQ(line->group_rank, wording.group_rank);
  }
}

TEST(WatchdogLine, ReadsThatTheWatchdogItselfIsStuck) {
  const auto line = parse_watchdog_line(
      "[rank9]:[F709 17:05:38.162814866 ProcessGroupNCCL.cpp:1557] [PG ID 0 PG GUID 0(default_pg) "
      "Rank 9] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->kind, Kind::stuck);
  EXPECT_EQ(line->rank, 9);
}

// A line that is cut, or of which a byte is another one, is none, or says no more than it did.
TEST(WatchdogLine, SurvivesEveryCutAndByte) {
  for (std::size_t size = 0; size + 1 < kTimed.size(); ++size) {
    const auto cut = parse_watchdog_line(std::string_view(kTimed).substr(0, size));
    EXPECT_EQ(cut ? cut->ran_ms : 600029, 600029) << size;
    watchdog_clock(std::string_view(kTimed).substr(0, size));
  }
  for (std::size_t i = 0; i < kTimed.size(); ++i) {
    for (const char byte : {'\0', '[', ']', '-', '9', '\xff'}) {
      std::string damaged = kTimed;
      damaged[i] = byte;
      const auto line = parse_watchdog_line(damaged);
      EXPECT_GE(line ? line->ran_ms : 0, 0);
      watchdog_clock(damaged);
    }
  }
  for (const char* other :
       {"", "[rank0]:[W ProcessGroupNCCL.cpp:1] Warning", "ProcessGroupNCCL.cpp:",
        "frame #5: checkTimeout at ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:565 (most)",
        "[E ProcessGroupNCCL.cpp:1] [Rank 1] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=99999999999999999999, OpType=A, Timeout(ms)=1) ran for 1 milliseconds"}) {
    EXPECT_FALSE(parse_watchdog_line(other)) << other;
  }
}

constexpr Time kTimedOut = time_from_ns(1'700'000'600'000'000'000);

WatchdogLine timeout(std::int64_t sequence, const std::string& group = "0") {
  WatchdogLine line;
  line.at = kTimedOut;
  line.operation = "ALLREDUCE";
  line.group = group;
  line.sequence = sequence;
  line.timeout_ms = 600'000;
  line.ran_ms = 600'000;
  return line;
}
WatchdogLine progress(std::int64_t enqueued, std::int64_t completed, std::int64_t failed = -1) {
  WatchdogLine line;
  line.kind = Kind::progress;
  line.at = kTimedOut;
  line.group = "0";
  line.description = "default_pg";
  line.sequence = failed;
  line.enqueued = enqueued;
  line.completed = completed;
  return line;
}

TEST(WatchdogLines, SayWhoWaitsInWhatSinceWhen) {
  const HangFinding found = analyze_hang({}, {{0, {timeout(35, "")}}, {1, {timeout(35, "")}}});
  EXPECT_EQ(found.kind, Found::unknown);
  EXPECT_THAT(found.suspects, IsEmpty());
  EXPECT_THAT(found.waiting, ElementsAre(0, 1));
  EXPECT_EQ(found.collective, "ALLREDUCE");
  EXPECT_EQ(found.sequence, 35);
  EXPECT_EQ(found.group, "");
  EXPECT_EQ(found.waited(), std::chrono::minutes(10));
  EXPECT_TRUE(found.lines_only);
  EXPECT_TRUE(found.timed_out);
}

// The line of rank 2 itself says that it has not enqueued the call.
TEST(WatchdogLines, NameTheRankWhoseOwnLineIsBehind) {
  const WatchdogLines lines = {{0, {timeout(35, ""), progress(35, 34, 35)}},
                               {1, {timeout(35, ""), progress(36, 34, 35)}},
                               {2, {progress(34, 34)}}};
  const HangFinding found = analyze_hang({}, lines);
  EXPECT_EQ(found.kind, Found::absent);
  EXPECT_THAT(found.suspects, ElementsAre(2));
  EXPECT_THAT(found.waiting, ElementsAre(0, 1));
  EXPECT_EQ(found.description, "default_pg");
  EXPECT_EQ(found.confidence, HangFinding::Confidence::medium);
  WatchdogLines without = lines;
  without.erase(2);
  EXPECT_THAT(analyze_hang({}, without).suspects, IsEmpty());
}

TEST(WatchdogLines, NameTheRankThatHasNotFinishedWhatOthersHave) {
  const HangFinding found =
      analyze_hang({}, {{0, {timeout(35)}}, {1, {progress(35, 35)}}, {2, {progress(36, 35)}}});
  EXPECT_EQ(found.kind, Found::stuck);
  EXPECT_THAT(found.suspects, ElementsAre(0));
}

// Numbers of sends are not those of collectives, nor are those of one group those of another.
TEST(WatchdogLines, DoNotCompareWhatIsNotTheSame) {
  WatchdogLine send = timeout(35);
  send.operation = "SEND";
  EXPECT_THAT(analyze_hang({}, {{0, {send, progress(35, 34, 35)}}, {1, {progress(3, 3)}}}).suspects,
              IsEmpty());
  WatchdogLine other = progress(3, 3);
  other.group = "7";
  EXPECT_THAT(analyze_hang({}, {{0, {timeout(35)}}, {1, {other}}}).suspects, IsEmpty());
}

RankDump dump(std::int32_t rank, bool waits) {
  FlightGroup group{"0", "default_pg", {0, 1, 2, 3}, FlightProgress{waits ? 35 : 34, 34}, {}};
  if (waits) {
    FlightOperation call;
    call.sequence = 35;
    call.name = "all_reduce";
    call.created = kTimedOut - std::chrono::minutes(10);
    call.timeout_ms = 600'000;
    group.operations.push_back(call);
  }
  return {rank, kTimedOut, "2.9", {group}};
}

// Without its lines, rank 3 would be the only member that does not wait.
TEST(WatchdogLines, OfARankWithoutADumpCountBesideDumps) {
  const std::map<std::int32_t, RankDump> dumps = {
      {0, dump(0, true)}, {1, dump(1, true)}, {2, dump(2, true)}};
  EXPECT_EQ(analyze_hang(dumps).kind, Found::unknown);
  HangFinding found = analyze_hang(dumps, {{3, {timeout(35)}}});
  EXPECT_THAT(found.suspects, IsEmpty());
  EXPECT_THAT(found.missing, ElementsAre(3));
  EXPECT_THAT(found.from_lines, ElementsAre(3));
  found = analyze_hang(dumps, {{3, {progress(34, 34)}}});
  EXPECT_EQ(found.kind, Found::absent);
  EXPECT_THAT(found.suspects, ElementsAre(3));
}

TEST(WatchdogLines, AddNothingToAllDumps) {
  std::map<std::int32_t, RankDump> dumps;
  for (const std::int32_t rank : {0, 1, 2, 3}) dumps[rank] = dump(rank, rank != 2);
  const HangFinding found = analyze_hang(dumps, {{2, {timeout(35)}}, {0, {progress(3, 3)}}});
  EXPECT_THAT(found.suspects, ElementsAre(2));
  EXPECT_EQ(found.kind, Found::absent);
  EXPECT_THAT(found.from_lines, IsEmpty());
}

}  // namespace
}  // namespace trainwatch::watchdog_line_test
