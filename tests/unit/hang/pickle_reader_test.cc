// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/flight_recorder/pickle_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "pipeline/decode/bounded_memory.h"
#include "support/flight_dump_writer.h"

namespace trainwatch::pickle_reader_test {
namespace {

using ::testing::HasSubstr;
using End = PickleResult::End;
using namespace std::string_view_literals;

RankDump sample() {
  RankDump dump;
  dump.version = "2.9";
  FlightGroup group{"0", "default_pg", {0, 1}, FlightProgress{7, 6}, {}};
  FlightOperation operation;
  operation.record = 90000;
  operation.sequence = 7;
  operation.name = "all_reduce";
  operation.created = time_from_ns(1'700'000'000'000'000'000);
  operation.timeout_ms = 180000;
  operation.inputs = operation.outputs = {{300, 70000}, {}};
  operation.input_types = operation.output_types = {"BFloat16"};
  group.operations = {operation, operation};
  dump.groups = {group};
  return dump;
}

BoundedMemory& memory() {
  static BoundedMemory memory(kPickleMemory);
  return memory;
}

PickleResult read_pickle(std::string_view bytes, const PickleLimits& limits = {}) {
  return trainwatch::read_pickle(bytes, memory(), {}, limits);
}

std::string error_of(std::string_view bytes) {
  const PickleResult read = read_pickle(bytes);
  EXPECT_EQ(read.end, End::damaged);
  return read.error;
}

TEST(PickleReader, ReadsADump) {
  const RankDump written = sample();
  const FlightDumpResult read = read_flight_dump(testing::pickle_dump(written));
  ASSERT_EQ(read.end, FlightDumpResult::End::whole) << read.error;
  ASSERT_EQ(read.dump.groups.size(), 1U);
  const FlightGroup& group = read.dump.groups[0];
  EXPECT_EQ(group.description, "default_pg");
  EXPECT_EQ(group.progress->enqueued, 7);
  ASSERT_EQ(group.operations.size(), 2U);
  EXPECT_EQ(group.operations[1].record, 90000);
  EXPECT_EQ(group.operations[1].name, "all_reduce");
  EXPECT_EQ(group.operations[1].created, written.groups[0].operations[0].created);
  EXPECT_EQ(group.operations[1].inputs, written.groups[0].operations[0].inputs);
}

TEST(PickleReader, EveryTruncationIsIncomplete) {
  const std::string bytes = testing::pickle_dump(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(read_pickle(bytes.substr(0, size)).end, End::incomplete) << size;
  }
}

TEST(PickleReader, SurvivesEveryFlippedByte) {
  const std::string bytes = testing::pickle_dump(sample());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      read_flight_dump(damaged);
    }
  }
}

TEST(PickleReader, NamesWhatItDoesNotRead) {
  EXPECT_EQ(error_of("\x80\x02"
                     "cos\nsystem\nX\x02\0\0\0id\x85R."sv),
            "opcode GLOBAL at byte 2");
  EXPECT_THAT(error_of("\x80\x04\x8c\x02os\x8c\x06system\x93."sv), HasSubstr("STACK_GLOBAL"));
  EXPECT_THAT(error_of("\x80\x02}R."sv), HasSubstr("REDUCE at byte 3"));
  EXPECT_THAT(error_of("\x80\x02\xff."sv), HasSubstr("0xff"));
  EXPECT_THAT(error_of("\x80\x02}2."sv), HasSubstr("DUP"));
}

TEST(PickleReader, ContainersDoNotContainThemselves) {
  EXPECT_THAT(error_of("\x80\x02]q\0(h\0e."sv), HasSubstr("within itself"));
  EXPECT_EQ(read_pickle("\x80\x02]q\0h\0a."sv).end, End::damaged);
  EXPECT_EQ(read_pickle("\x80\x02}q\0(X\x01\0\0\0ah\0u."sv).end, End::damaged);
  // a = [b], then b is to get a.
  EXPECT_EQ(read_pickle("\x80\x02](]q\0]q\x01h\0aeh\0h\x01"
                        "a."sv)
                .end,
            End::damaged);
  // Sharing is no containing.
  EXPECT_EQ(read_pickle("\x80\x02](]q\0h\0h\0e."sv).end, End::whole);
}

TEST(PickleReader, BoundsEverything) {
  const std::string bomb = "\x80\x02" + std::string(1000, ']') + std::string(999, 'a') + ".";
  EXPECT_THAT(error_of(bomb), HasSubstr("nesting too deep"));
  EXPECT_THAT(error_of("\x80\x02" + std::string(1000, '(')), HasSubstr("nesting too deep"));
  EXPECT_THAT(error_of("\x80\x02X\xff\xff\xff\xff"sv), HasSubstr("string too long"));
  EXPECT_THAT(error_of("\x80\x02]r\xff\xff\xff\x7f."sv), HasSubstr("memo index"));
  EXPECT_THAT(error_of("\x80\x02h\x05."sv), HasSubstr("memo index"));
  EXPECT_THAT(error_of("\x80\x02\x8a\x09"sv), HasSubstr("64 bits"));
  for (const std::string_view wrong : {"."sv, "\x80\x02."sv, "\x80\x02(."sv, "\x80\x02NN."sv,
                                       "\x80\x02"
                                       "e."sv,
                                       "\x80\x02}(Nu."sv, "\x80\x02}(NNu."sv, "\x80\x02q\0."sv,
                                       "\x80\x02(Ne."sv, "\x80\x02\x85."sv}) {
    EXPECT_EQ(read_pickle(wrong).end, End::damaged);
  }
}

// A byte of the file is a hundred in memory.
TEST(PickleReader, HoldsNoMoreThanItsMemory) {
  constexpr std::size_t kMany = std::size_t{4} << 20U;
  const std::string begin = "\x80\x02](";
  std::string memoized = begin;
  std::string pairs = begin;
  for (std::size_t i = 0; i < kMany; ++i) {
    memoized += "N\x94";
    pairs += "NN\x86";
  }
  for (const std::string& bomb : {begin + std::string(kMany, ']') + "e.", memoized + "e.",
                                  pairs + "e.", begin + std::string(kMany, 'N') + "e."}) {
    EXPECT_THAT(error_of(bomb), HasSubstr("more than a file may hold"));
    EXPECT_EQ(memory().held(), 0U) << "it is given back";
  }
}

// Empty lists take much memory in an operation.
TEST(PickleReader, OperationsHoldNoMoreThanTheirBytes) {
  constexpr std::size_t kShapes = 20'000;
  testing::PickleWriter pickle;
  pickle.raw("}(").text("version").text("2.9").text("entries").raw("](");
  std::string shapes = "[]";
  for (std::size_t i = 1; i < kShapes; ++i) shapes += ",[]";
  const std::string in_json =
      R"({"profiling_name":"a","collective_seq_id":1,"input_sizes":[)" + shapes + "]}";
  std::string json = R"({"version":"2.9","entries":[)" + in_json;
  for (int i = 0; i < 200; ++i) {
    pickle.raw("}(").text("profiling_name").text("a").text("collective_seq_id").raw("K\x01");
    pickle.text("input_sizes").raw("](" + std::string(kShapes, ']') + "eu");
    json += "," + in_json;
  }
  for (const std::string& dump : {pickle.raw("eu").take(), json + "]}"}) {
    const FlightDumpResult read = read_flight_dump(dump);
    EXPECT_EQ(read.end, FlightDumpResult::End::damaged);
    EXPECT_THAT(read.error, HasSubstr("more than a file may hold"));
  }
}

// Of a large job: megabytes of groups.
TEST(PickleReader, ReadsManyLongGroupsInJson) {
  std::string ranks = "0";
  for (int rank = 1; rank < 20'000; ++rank) ranks += ", " + std::to_string(rank);
  std::string json = R"({"version":"2.9","pg_config":{)";
  for (int group = 0; group < 40; ++group) {
    json += (group > 0 ? "," : "") + ("\"g" + std::to_string(group));
    json += R"(":{"desc":"mesh","ranks":"[)" + ranks + R"(]"})";
  }
  const FlightDumpResult read = read_flight_dump(json + R"(},"entries":[]})");
  ASSERT_EQ(read.end, FlightDumpResult::End::whole) << read.error;
  ASSERT_EQ(read.dump.groups.size(), 40U);
  EXPECT_EQ(read.dump.groups.front().ranks.size(), 20'000U);
}

TEST(PickleReader, ReadsNumbers) {
  const auto integer = [](std::string_view body) {
    const PickleResult read = read_pickle("\x80\x02" + std::string(body) + ".");
    return read.end == End::whole ? std::get<std::int64_t>(read.value) : -99;
  };
  EXPECT_EQ(integer("K\xff"sv), 255);
  EXPECT_EQ(integer("M\x01\x02"sv), 513);
  EXPECT_EQ(integer("J\xff\xff\xff\xff"sv), -1);
  EXPECT_EQ(integer("\x8a\x00"sv), 0);
  EXPECT_EQ(integer("\x8a\x01\xfe"sv), -2);
  EXPECT_EQ(integer("\x8a\x08\0\0\0\0\0\0\0\x80"sv), INT64_MIN);
  const PickleResult real = read_pickle("\x80\x02G\x3f\xf8\0\0\0\0\0\0."sv);
  EXPECT_EQ(std::get<double>(real.value), 1.5);
}

// python3 -c 'pickle.dumps({"version": "2.10", "entries": [], "a": (1, -2.5, None, True)}, 4)'
TEST(PickleReader, ReadsWhatPythonWrites) {
  const PickleResult read = read_pickle(
      "\x80\x04\x95\x3a\0\0\0\0\0\0\0}\x94(\x8c\x07version\x94\x8c\x04"
      "2.10\x94\x8c\x07"
      "entries"
      "\x94]\x94\x8c\x01"
      "a\x94(K\x01G\xc0\x04\0\0\0\0\0\0N\x88t\x94u."sv);
  ASSERT_EQ(read.end, End::whole) << read.error;
  const auto* const root = container_of(&read.value, PickleContainer::Kind::dict);
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(std::get<std::string_view>(*root->find("version")), "2.10");
  const auto* const tuple = container_of(root->find("a"), PickleContainer::Kind::tuple);
  ASSERT_NE(tuple, nullptr);
  EXPECT_EQ(std::get<double>(tuple->items[1]), -2.5);
}

TEST(FlightDump, RankIsInTheName) {
  EXPECT_EQ(rank_of_dump("/tmp/nccl_trace_rank_12"), 12);
  EXPECT_EQ(rank_of_dump("run/rank_3.json"), 3);
  EXPECT_EQ(rank_of_dump("run/rank_3.pickle"), std::nullopt);
  EXPECT_EQ(rank_of_dump("dump_99999999999"), std::nullopt);
}

}  // namespace
}  // namespace trainwatch::pickle_reader_test
