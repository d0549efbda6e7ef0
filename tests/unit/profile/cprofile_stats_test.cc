// SPDX-License-Identifier: Apache-2.0
#include "pipeline/profile/cprofile_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "unit/profile/profile_samples.h"

namespace trainwatch::cprofile_stats_test {

using simdjson::dom::element;
using test::marshal_float;
using test::marshal_int;
using test::marshal_text;
using test::marshal_tuple;
using ::testing::HasSubstr;

std::string function(std::string_view name, int line = 1) {
  return marshal_tuple(marshal_text("a.py"), marshal_int(line), marshal_text(name));
}

std::string counts(std::string_view cumulative, const std::string& callers = "{0") {
  return marshal_tuple(marshal_int(1), marshal_int(2), marshal_float("0.25"),
                       marshal_float(cumulative), callers);
}

template <class... Parts>
std::string dict(const Parts&... parts) {
  return (std::string{"{"} + ... + parts) + '0';
}

CprofileStats parsed(const std::string& dump) {
  auto stats = CprofileStats::parse(dump);
  EXPECT_TRUE(stats) << stats.error().message;
  return stats ? std::move(*stats) : CprofileStats{};
}

std::string error_of(const std::string& dump) {
  const auto stats = CprofileStats::parse(dump);
  return stats ? "read" : stats.error().message;
}

PythonFunction function_of(element row) {
  return {std::string{row.at(0).get_string().value()}, row.at(1).get_int64(),
          std::string{row.at(2).get_string().value()}};
}

CallStats calls_of(element row) {
  return {row.at(3).get_int64(), row.at(4).get_int64(), row.at(5).get_int64(),
          row.at(6).get_int64()};
}

void expect_function(const CprofileStats::Row& found, element row) {
  EXPECT_EQ(found.calls, calls_of(row));
  const auto callers = row.at(7).get_array().value();
  EXPECT_EQ(found.callers.size(), callers.size());
  for (const element caller : callers) {
    const auto share = found.callers.find(function_of(caller));
    ASSERT_NE(share, found.callers.end()) << caller;
    EXPECT_EQ(share->second, calls_of(caller)) << caller;
  }
}

// expected.json is what Python's own pstats says of the same files.
TEST(CprofileStats, EqualToPstats) {
  simdjson::dom::parser parser;
  const element tables = parser.load(test::kRecorded + "/expected.json");
  std::size_t compared = 0;
  for (const element table : tables.get_array()) {
    CprofileStats stats;
    for (const element file : table["files"].get_array()) {
      stats.add(parsed(test::read_recorded(file.get_string().value())));
    }
    SCOPED_TRACE(simdjson::to_string(table["files"]));
    EXPECT_EQ(stats.totals().pcalls, table["pcalls"].get_int64().value());
    EXPECT_EQ(stats.totals().ncalls, table["ncalls"].get_int64().value());
    EXPECT_EQ(stats.totals().total_ns, table["total_time_ns"].get_int64().value());
    EXPECT_EQ(stats.functions().size(), table["functions"].get_array().value().size());
    EXPECT_EQ(stats.dropped(), 0);
    for (const element row : table["functions"].get_array()) {
      const auto found = stats.functions().find(function_of(row));
      ASSERT_NE(found, stats.functions().end()) << row;
      SCOPED_TRACE(simdjson::to_string(row));
      expect_function(found->second, row);
      ++compared;
    }
  }
  EXPECT_GE(compared, 100);
}

TEST(CprofileStats, OfEqualTimesTheFirstFunctionComesFirst) {
  const CprofileStats stats =
      parsed(dict(function("slow"), counts("2.5"), function("b"), counts("1.0"), function("a"),
                  counts("1.0"), function("a", -7), counts("1.0")));
  const auto top = stats.top_by_cumulative_time(3);
  ASSERT_EQ(top.size(), 3);
  EXPECT_EQ(top[0]->first.name, "slow");
  EXPECT_EQ(top[0]->second.calls, (CallStats{1, 2, 250'000'000, 2'500'000'000}));
  EXPECT_EQ(top[1]->first, (PythonFunction{"a.py", -7, "a"}));
  EXPECT_EQ(top[2]->first, (PythonFunction{"a.py", 1, "a"}));
  EXPECT_EQ(stats.top_by_cumulative_time(100).size(), 4);
}

TEST(CprofileStats, OfTwoEntriesWithOneKeyTheLaterStays) {
  const CprofileStats stats =
      parsed(dict(function("f"), counts("1.0", dict(function("g"), marshal_int(1))), function("f"),
                  counts("2.0")));
  ASSERT_EQ(stats.functions().size(), 1);
  EXPECT_EQ(stats.functions().begin()->second.calls.cumulative_ns, 2'000'000'000);
  EXPECT_TRUE(stats.functions().begin()->second.callers.empty());
}

// As Python 2.7's marshal, version 2: names are interned, and referred to by their number.
TEST(CprofileStats, DumpsOfPython2) {
  const std::string zero = test::bytes("R\x00\x00\x00\x00");
  const std::string first = test::bytes("t\x04\x00\x00\x00") + "a.py";
  const std::string f = test::bytes("t\x01\x00\x00\x00") + "f";
  const std::string g = test::bytes("s\x01\x00\x00\x00") + "g";
  const std::string half = test::bytes("g\x00\x00\x00\x00\x00\x00\xE0\x3F");
  const std::string tuple3 = test::bytes("(\x03\x00\x00\x00");
  const std::string tuple4 = test::bytes("(\x04\x00\x00\x00");
  const std::string tuple5 = test::bytes("(\x05\x00\x00\x00");
  const std::string one = marshal_int(1);
  const std::string caller =
      tuple3 + zero + marshal_int(9) + g + tuple4 + marshal_int(3) + one + half + half;
  const CprofileStats stats =
      parsed(dict(tuple3 + first + marshal_int(7) + f,
                  tuple5 + one + marshal_int(3) + half + half + dict(caller)));
  ASSERT_EQ(stats.functions().size(), 1);
  const auto& [function, row] = *stats.functions().begin();
  EXPECT_EQ(function, (PythonFunction{"a.py", 7, "f"}));
  EXPECT_EQ(row.calls, (CallStats{1, 3, 500'000'000, 500'000'000}));
  ASSERT_EQ(row.callers.size(), 1);
  EXPECT_EQ(row.callers.begin()->first, (PythonFunction{"a.py", 9, "g"}));
  EXPECT_EQ(row.callers.begin()->second, row.calls);
}

TEST(CprofileStats, AnEmptyTableIsAProfile) {
  EXPECT_EQ(parsed("{0").functions().size(), 0);
  EXPECT_EQ(parsed("{0").totals(), CallStats{});
}

TEST(CprofileStats, NamesThatAreNotUtf8AreRepaired) {
  const std::string key =
      marshal_tuple(marshal_text("caf\xE9.py"), marshal_int(1), marshal_text("f"));
  EXPECT_EQ(parsed(dict(key, counts("1.0"))).functions().begin()->first.file, "caf\uFFFD.py");
}

TEST(CprofileStats, SaysWhichFunctionIsWrong) {
  EXPECT_THAT(error_of("N"), HasSubstr("no table of functions"));
  EXPECT_THAT(error_of(dict("N", counts("1.0"))), HasSubstr("function 1 of the profile: its key"));
  EXPECT_THAT(error_of(dict(function("f"), counts("1.0"), function("g"), "N")),
              HasSubstr("function 2 of the profile: not two counts"));
  EXPECT_THAT(error_of(dict(function("f"), marshal_tuple(marshal_int(1)))), HasSubstr("two times"));
  EXPECT_THAT(error_of(dict(function("f"), counts("nan"))), HasSubstr("two times"));
  EXPECT_THAT(error_of(dict(function("f"), counts("inf"))), HasSubstr("two times"));
  EXPECT_THAT(error_of(dict(function("f"), counts("1e300"))), HasSubstr("two times"));
  EXPECT_THAT(error_of(dict(function("f"), counts("1.0", "N"))), HasSubstr("two counts"));
  EXPECT_THAT(error_of(dict(function("f"), counts("1.0", dict(function("g"), "N")))),
              HasSubstr("a caller is not one"));
  EXPECT_THAT(error_of(dict(function("f"), counts("1.0", dict("N", marshal_int(1))))),
              HasSubstr("a caller is not one"));
}

// One long file name, held once by the dump and referred to by every further function.
std::string dump_with_one_long_name(int functions, char letter = 'x') {
  std::string file = test::bytes("\xE1\x00\x10\x00\x00") + std::string(4096, letter);
  std::string dump = "{";
  for (int i = 0; i < functions; ++i) {
    dump += marshal_tuple(file, marshal_int(i), marshal_text("f")) + counts("1.0");
    file = test::bytes("r\x00\x00\x00\x00");
  }
  return dump + '0';
}

TEST(CprofileStats, ReferencesCannotFillMemory) {
  EXPECT_EQ(error_of(dump_with_one_long_name(9000)), "read");
  EXPECT_THAT(error_of(dump_with_one_long_name(20000)), HasSubstr("the names are too long"));
  const std::string too_long = test::bytes("a\x01\x10\x00\x00") + std::string(4097, 'x');
  EXPECT_THAT(error_of(dict(marshal_tuple(too_long, marshal_int(1), too_long), counts("1.0"))),
              HasSubstr("its key"));
}

TEST(CprofileStats, WhatASumHasNoRoomForIsCounted) {
  CprofileStats sum = parsed(dump_with_one_long_name(9000));
  sum.add(parsed(dump_with_one_long_name(9000)));
  EXPECT_EQ(sum.dropped(), 0);
  EXPECT_EQ(sum.functions().size(), 9000);
  sum.add(parsed(dump_with_one_long_name(9000, 'y')));
  EXPECT_EQ(sum.functions().size() + sum.dropped(), 18000);
  EXPECT_GT(sum.dropped(), 0);
}

TEST(CprofileStats, CountsStopAtTheEnds) {
  CallStats calls{std::numeric_limits<std::int64_t>::max(), 1, 1, 1};
  calls += calls;
  EXPECT_EQ(calls, (CallStats{std::numeric_limits<std::int64_t>::max(), 2, 2, 2}));
}

// 20,000 damaged dumps: each is read or refused, and none does harm.
TEST(CprofileStats, AnyBytesAreReadOrRefused) {
  std::mt19937 random{4};
  std::size_t refused = 0;
  constexpr int kPerVersion = 4000;
  for (const char* version : {"0", "2", "3", "4", "profile"}) {
    const std::string whole = test::read_recorded(std::string{"versions/"} + version);
    for (int i = 0; i < kPerVersion; ++i) {
      std::string damaged = whole;
      for (std::uint32_t flips = 1 + random() % 4; flips > 0; --flips) {
        damaged[random() % damaged.size()] ^= static_cast<char>(1U << random() % 8);
      }
      const auto stats = CprofileStats::parse(damaged);
      if (stats) continue;
      ++refused;
      ASSERT_FALSE(stats.error().message.empty());
    }
  }
  EXPECT_GT(refused, 5 * kPerVersion / 4);
}

}  // namespace trainwatch::cprofile_stats_test
