// SPDX-License-Identifier: Apache-2.0
#include "pipeline/hang/hang_analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "support/flight_dump_writer.h"
#include "support/source_path.h"

namespace trainwatch::hang_analysis_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Dumps = std::map<std::int32_t, RankDump>;
using Kind = HangFinding::Kind;
using Ranks = std::set<std::int32_t>;

constexpr Time kCalled = time_from_ns(1'700'000'000'000'000'000);
constexpr Time kDumped = kCalled + std::chrono::seconds(180);

FlightOperation call(std::int64_t sequence, const std::string& name = "all_reduce") {
  FlightOperation operation;
  operation.record = 100 + sequence;
  operation.sequence = sequence;
  operation.name = name;
  operation.created = kCalled;
  operation.timeout_ms = 600000;
  operation.inputs = {{4, 8}};
  operation.outputs = {{4, 8}};
  operation.input_types = {"Float"};
  return operation;
}
FlightOperation completed(FlightOperation operation) {
  operation.completed = true;
  return operation;
}
FlightOperation p2p(std::int64_t record, const std::string& name) {
  FlightOperation operation = call(3, name);
  operation.record = record;
  operation.p2p = true;
  return operation;
}

class Job {
 public:
  FlightGroup& group(std::int32_t rank, const std::string& name, std::vector<std::int32_t> ranks) {
    RankDump& dump = dumps[rank];
    dump.rank = rank;
    dump.written = kDumped;
    dump.version = "2.9";
    for (FlightGroup& known : dump.groups) {
      if (known.name == name) return known;
    }
    return dump.groups.emplace_back(FlightGroup{name, "G" + name, std::move(ranks), {}, {}});
  }
  void waits(std::int32_t rank, const std::string& name, const std::vector<std::int32_t>& ranks,
             FlightOperation operation) {
    FlightGroup& own = group(rank, name, ranks);
    own.progress = FlightProgress{operation.sequence, operation.sequence - 1};
    own.operations.push_back(std::move(operation));
  }
  void is_at(std::int32_t rank, const std::string& name, const std::vector<std::int32_t>& ranks,
             std::int64_t sequence) {
    group(rank, name, ranks).progress = FlightProgress{sequence, sequence};
  }
  // As it comes out of the files: written as pickles and as JSON, and read.
  HangFinding find() const {
    Dumps from_pickle;
    Dumps from_json;
    for (const auto& [rank, dump] : dumps) {
      from_pickle[rank] = reread(testing::pickle_dump(dump), dump);
      from_json[rank] = reread(testing::json_dump(dump), dump);
    }
    const HangFinding found = analyze_hang(from_pickle);
    const HangFinding same = analyze_hang(from_json);
    EXPECT_EQ(found.suspects, same.suspects);
    EXPECT_EQ(found.kind, same.kind);
    EXPECT_EQ(found.collective, same.collective);
    return found;
  }
  Dumps dumps;

 private:
  static RankDump reread(const std::string& bytes, const RankDump& dump) {
    FlightDumpResult read = read_flight_dump(bytes);
    EXPECT_EQ(read.end, FlightDumpResult::End::whole) << read.error;
    EXPECT_EQ(read.bytes, bytes.size());
    read.dump.rank = dump.rank;
    read.dump.written = dump.written;
    return read.dump;
  }
};

const std::vector<std::int32_t> kFour = {0, 1, 2, 3};

TEST(HangAnalysis, NamesTheRankThatHasNotEntered) {
  Job job;
  for (const std::int32_t rank : {0, 1, 3}) job.waits(rank, "0", kFour, call(17));
  job.is_at(2, "0", kFour, 16);
  const HangFinding found = job.find();
  EXPECT_EQ(found.kind, Kind::absent);
  EXPECT_THAT(found.suspects, ElementsAre(2));
  EXPECT_THAT(found.waiting, ElementsAre(0, 1, 3));
  EXPECT_EQ(found.sequence, 17);
  EXPECT_EQ(found.collective, "all_reduce");
  EXPECT_EQ(found.confidence, HangFinding::Confidence::high);
  EXPECT_EQ(found.waited(), std::chrono::seconds(180));
}

TEST(HangAnalysis, NamesTheRankThatAloneHasNotFinished) {
  Job job;
  job.waits(1, "0", kFour, call(17));
  for (const std::int32_t rank : {0, 2, 3}) job.is_at(rank, "0", kFour, 17);
  const HangFinding found = job.find();
  EXPECT_EQ(found.kind, Kind::stuck);
  EXPECT_THAT(found.suspects, ElementsAre(1));
}

TEST(HangAnalysis, AccusesNobodyWhileAllIsWell) {
  Job job;
  for (const std::int32_t rank : kFour) job.is_at(rank, "0", kFour, 40);
  EXPECT_EQ(job.find().kind, Kind::none);
  // One has called the next one just before its dump.
  FlightOperation recent = call(41);
  recent.created = kDumped - std::chrono::seconds(1);
  job.waits(3, "0", kFour, recent);
  EXPECT_EQ(job.find().kind, Kind::none);
  EXPECT_THAT(job.find().suspects, IsEmpty());
}

TEST(HangAnalysis, AllWaitAndNobodyIsMissing) {
  Job job;
  for (const std::int32_t rank : kFour) job.waits(rank, "0", kFour, call(17));
  const HangFinding found = job.find();
  EXPECT_EQ(found.kind, Kind::unknown);
  EXPECT_THAT(found.suspects, IsEmpty());
  EXPECT_EQ(found.collective, "all_reduce");
}

TEST(HangAnalysis, NeverNamesARankWithoutADump) {
  Job job;
  for (const std::int32_t rank : {0, 1, 2}) job.waits(rank, "0", kFour, call(17));
  HangFinding found = job.find();
  EXPECT_EQ(found.kind, Kind::unknown);
  EXPECT_THAT(found.suspects, IsEmpty());
  EXPECT_THAT(found.unknown, ElementsAre(3));
  EXPECT_THAT(found.missing, ElementsAre(3));
  job.dumps.erase(2);
  found = job.find();
  EXPECT_EQ(found.kind, Kind::unknown);
  EXPECT_THAT(found.suspects, IsEmpty());
  EXPECT_THAT(found.missing, ElementsAre(2, 3));
}

TEST(HangAnalysis, FindsWhoCalledSomethingElse) {
  const auto mismatch = [](const FlightOperation& usual, const FlightOperation& other) {
    Job job;
    for (const std::int32_t rank : {0, 1, 2}) job.waits(rank, "0", kFour, usual);
    job.waits(3, "0", kFour, other);
    const HangFinding found = job.find();
    EXPECT_EQ(found.kind, Kind::mismatch);
    EXPECT_THAT(found.suspects, ElementsAre(3));
    return found.difference;
  };
  EXPECT_EQ(mismatch(call(17), call(17, "broadcast")), "operation");
  FlightOperation larger = call(17);
  larger.inputs = larger.outputs = {{4, 9}};
  EXPECT_EQ(mismatch(call(17), larger), "sizes");
  FlightOperation half = call(17);
  half.input_types = {"Half"};
  EXPECT_EQ(mismatch(call(17), half), "types");
  FlightOperation gather = call(17, "_all_gather_base");
  gather.outputs = {{16, 8}};
  EXPECT_EQ(mismatch(gather, call(17, "_all_gather_base")), "sizes");
  FlightOperation scatter = call(17, "_reduce_scatter_base");
  scatter.inputs = {{16, 8}};
  EXPECT_EQ(mismatch(scatter, call(17, "_reduce_scatter_base")), "sizes");
  // The same number of elements in another shape is the same call.
  Job job;
  FlightOperation flat = call(17);
  flat.inputs = flat.outputs = {{32}};
  for (const std::int32_t rank : kFour) job.waits(rank, "0", kFour, rank == 2 ? flat : call(17));
  EXPECT_EQ(job.find().kind, Kind::unknown);
}

TEST(HangAnalysis, AllToAllSendsWhatItReceives) {
  Job job;
  for (const std::int32_t rank : kFour) {
    FlightOperation uneven = call(17, "all_to_all");
    uneven.inputs = {{rank + 1, 8}};
    uneven.outputs = {{4 - rank, 8}};
    job.waits(rank, "0", kFour, uneven);
  }
  EXPECT_EQ(job.find().kind, Kind::unknown);
  job.dumps[2].groups[0].operations[0].outputs = {{99, 8}};
  EXPECT_EQ(job.find().kind, Kind::mismatch);
  EXPECT_THAT(job.find().suspects, ElementsAre(0, 1, 2, 3));
}

TEST(HangAnalysis, AVictimThatWaitsElsewhereIsNotAccused) {
  Job job;
  const std::vector<std::int32_t> pair = {2, 3};
  for (const std::int32_t rank : {0, 1}) job.waits(rank, "0", kFour, call(17));
  for (const std::int32_t rank : {2, 3}) job.is_at(rank, "0", kFour, 16);
  job.waits(2, "7", pair, call(5, "broadcast"));
  job.is_at(3, "7", pair, 4);
  HangFinding found = job.find();
  EXPECT_EQ(found.kind, Kind::absent);
  EXPECT_THAT(found.suspects, ElementsAre(3));
  // Without the dump of rank 3, rank 2 may wait for it.
  job.dumps.erase(3);
  found = job.find();
  EXPECT_THAT(found.suspects, ::testing::Not(::testing::Contains(2)));
}

TEST(HangAnalysis, FollowsAPipelineToItsBeginning) {
  Job job;
  const std::vector<std::int32_t> pipeline = {4, 5, 6, 7};
  const auto stage = [&](std::int32_t rank) -> FlightGroup& {
    return job.group(rank, "3", pipeline);
  };
  stage(4);
  stage(5).operations.push_back(p2p(10, "recv 1<-0"));
  stage(6).operations.push_back(p2p(10, "recv 2<-1"));
  stage(7).operations.push_back(p2p(10, "recv 3<-2"));
  HangFinding found = job.find();
  EXPECT_EQ(found.kind, Kind::behind);
  EXPECT_THAT(found.suspects, ElementsAre(4));
  // It has sent: what hangs is between the two.
  stage(4).operations.push_back(p2p(10, "send 0->1"));
  EXPECT_EQ(job.find().kind, Kind::unknown);
  EXPECT_THAT(job.find().suspects, IsEmpty());
}

// A ring of sends beside a collective: who sends to whom is settled for each by itself.
TEST(HangAnalysis, ManyRanks) {
  constexpr std::int32_t kRanks = 4'000;
  std::vector<std::int32_t> all(kRanks);
  std::iota(all.begin(), all.end(), 0);
  const auto job = [&](bool same_number) {
    Dumps dumps;
    for (const std::int32_t rank : all) {
      FlightGroup world{"0", "default_pg", all, FlightProgress{17, 16}, {call(17)}};
      FlightGroup ring{"1", "PIPELINE", all, {}, {}};
      if (!same_number) world.operations[0].sequence = rank;
      if (rank % 2 == 1) {
        ring.operations.push_back(
            p2p(10, "recv " + std::to_string(rank) + "<-" + std::to_string(rank - 1)));
      }
      if (rank == 1234) world = {"0", "default_pg", all, FlightProgress{16, 16}, {}};
      dumps[rank] = {rank, kDumped, "2.9", {world, ring}};
    }
    return dumps;
  };
  EXPECT_THAT(analyze_hang(job(true)).suspects, ElementsAre(1234));
  EXPECT_EQ(analyze_hang(job(false)).suspects.size(), 0U);
}

// A file that was copied later says nothing of when its dump was made.
TEST(FlightDump, OfACopiedFileWasMadeAtTheTimeout) {
  Job job;
  job.waits(0, "0", kFour, call(17));
  const RankDump& dump = job.dumps.at(0);
  EXPECT_EQ(time_of_dump(dump, kDumped), kDumped);
  EXPECT_EQ(time_of_dump(dump, kCalled + std::chrono::minutes(69)),
            kCalled + std::chrono::minutes(69));
  EXPECT_EQ(time_of_dump(dump, kCalled + std::chrono::hours(24)),
            kCalled + std::chrono::minutes(10));
  job.dumps.at(0).groups[0].operations[0].timeout_ms = 0;
  EXPECT_EQ(time_of_dump(dump, kCalled + std::chrono::hours(24)),
            kCalled + std::chrono::minutes(10));
  job.dumps.at(0).groups[0].operations.clear();
  EXPECT_EQ(time_of_dump(dump, kDumped), kDumped);
}

// Its status counts sends and receives.
TEST(HangAnalysis, TheStatusOfAGroupThatSendsIsNotOfItsCollectives) {
  Job job;
  for (const std::int32_t rank : {0, 1, 2}) {
    job.waits(rank, "0", kFour, call(17));
    job.group(rank, "0", kFour).operations.push_back(completed(p2p(1, "send 0->1")));
    job.group(rank, "0", kFour).progress = FlightProgress{900, 900};
  }
  job.is_at(3, "0", kFour, 900);
  EXPECT_THAT(job.find().suspects, IsEmpty());
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Real dumps of a job with two injected faults.
Dumps real_dumps(const std::string& fault) {
  Dumps dumps;
  const std::filesystem::path folder = source_path("../shared/data/flight_recorder/" + fault);
  if (!std::filesystem::exists(folder)) return dumps;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto rank = rank_of_dump(entry.path().string());
    if (!rank) continue;
    FlightDumpResult read = read_flight_dump(contents(entry.path()));
    EXPECT_EQ(read.end, FlightDumpResult::End::whole) << entry.path() << read.error;
    read.dump.rank = *rank;
    dumps[*rank] = std::move(read.dump);
  }
  return dumps;
}

void check_real(const std::string& fault, const Ranks& truth, Kind kind) {
  const Dumps dumps = real_dumps(fault);
  if (dumps.empty()) GTEST_SKIP() << "no ../shared";
  ASSERT_EQ(dumps.size(), 16U);
  const HangFinding found = analyze_hang(dumps);
  EXPECT_EQ(found.suspects, truth);
  EXPECT_EQ(found.kind, kind);
  std::mt19937 random(7);
  std::size_t named = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Dumps some = dumps;
    if (trial < 16) some.erase(trial);
    for (std::int32_t rank = 0; trial >= 16 && rank < 16; ++rank) {
      if (random() % 16 < static_cast<unsigned>(trial % 14)) some.erase(rank);
    }
    const HangFinding partial = analyze_hang(some);
    for (const std::int32_t rank : partial.suspects) EXPECT_TRUE(truth.contains(rank)) << rank;
    named += partial.suspects.empty() ? 0U : 1U;
    EXPECT_TRUE(trial >= 16 || !partial.suspects.empty()) << trial;
  }
  EXPECT_GT(named, 100U);
}

TEST(HangAnalysis, RealJobWithLockedInterpreters) {
  check_real("lock_gil_1st", {9, 14}, Kind::absent);
}
TEST(HangAnalysis, RealJobWithBrokenGpus) {
  check_real("gpu_error_1st", {12, 14}, Kind::stuck);
}

}  // namespace
}  // namespace trainwatch::hang_analysis_test
