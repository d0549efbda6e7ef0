// SPDX-License-Identifier: Apache-2.0
#include "pipeline/profile/pyinstrument_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>

namespace trainwatch::pyinstrument_stats_test {

using ::testing::HasSubstr;

std::string frame(const std::string& function, const std::string& time,
                  const std::string& children = "") {
  return R"({"function": ")" + function +
         R"(","file_path_short": "t.py","file_path": "/job/t.py","line_no": 7,"time": )" + time +
         R"(,"is_application_code": true,"children": [)" + children + "]}";
}

std::string session(const std::string& root) {
  return R"({"start_time": 1596585363.775342,"duration": 2.500000,"sample_count": 2400,)"
         R"("program": "t.py","cpu_time": null,"root_frame": )" +
         root + "}\n";
}

PyinstrumentStats parsed(const std::string& json) {
  auto stats = PyinstrumentStats::parse(json);
  EXPECT_TRUE(stats) << stats.error().message;
  return stats ? std::move(*stats) : PyinstrumentStats{};
}

std::string error_of(const std::string& json) {
  const auto stats = PyinstrumentStats::parse(json);
  return stats ? "read" : stats.error().message;
}

SampledTime time_of(const PyinstrumentStats& stats, const std::string& name) {
  const auto found = stats.functions().find(PythonFunction{"/job/t.py", 7, name});
  return found == stats.functions().end() ? SampledTime{-1, -1} : found->second;
}

const std::string kJob = session(
    frame("main", "2.500000",
          frame("load", "1.500000", frame("[self]", "0.250000") + "," + frame("read", "1.250000")) +
              "," + frame("step", "0.750000")));

TEST(PyinstrumentStats, TotalAndSelfTimePerFunction) {
  const PyinstrumentStats stats = parsed(kJob);
  EXPECT_EQ(stats.duration_ns(), 2'500'000'000);
  EXPECT_EQ(stats.samples(), 2400);
  EXPECT_EQ(stats.functions().size(), 4);
  EXPECT_EQ(time_of(stats, "main"), (SampledTime{250'000'000, 2'500'000'000}));
  EXPECT_EQ(time_of(stats, "load"), (SampledTime{250'000'000, 1'500'000'000}));
  EXPECT_EQ(time_of(stats, "read"), (SampledTime{1'250'000'000, 1'250'000'000}));
  EXPECT_EQ(time_of(stats, "step"), (SampledTime{750'000'000, 750'000'000}));
}

TEST(PyinstrumentStats, AFunctionThatCallsItselfCountsOnce) {
  const PyinstrumentStats stats =
      parsed(session(frame("f", "1.000000",
                           frame("g", "0.900000", frame("f", "0.700000", frame("f", "0.100000"))) +
                               "," + frame("g", "0.050000"))));
  EXPECT_EQ(time_of(stats, "f"), (SampledTime{750'000'000, 1'000'000'000}));
  EXPECT_EQ(time_of(stats, "g"), (SampledTime{250'000'000, 950'000'000}));
}

TEST(PyinstrumentStats, RoundedTimesGiveNoNegativeSelfTime) {
  const PyinstrumentStats stats = parsed(
      session(frame("f", "0.000002", frame("g", "0.000002") + "," + frame("h", "0.000001"))));
  EXPECT_EQ(time_of(stats, "f"), (SampledTime{0, 2000}));
}

TEST(PyinstrumentStats, TopIsByTotalTime) {
  const PyinstrumentStats stats = parsed(kJob);
  const auto top = stats.top_by_total_time(2);
  ASSERT_EQ(top.size(), 2);
  EXPECT_EQ(top[0]->first.name, "main");
  EXPECT_EQ(top[1]->first.name, "load");
}

TEST(PyinstrumentStats, AddsUp) {
  PyinstrumentStats stats = parsed(kJob);
  stats.add(parsed(kJob));
  EXPECT_EQ(time_of(stats, "load"), (SampledTime{500'000'000, 3'000'000'000}));
  EXPECT_EQ(stats.duration_ns(), 5'000'000'000);
  EXPECT_EQ(stats.samples(), 4800);
  EXPECT_EQ(stats.dropped(), 0);
}

TEST(PyinstrumentStats, WhatMayBeMissing) {
  EXPECT_EQ(parsed(session("null")).functions().size(), 0);
  const PyinstrumentStats stats =
      parsed(R"({"root_frame": {"function": "f", "file_path": null, "line_no": null, "time": 1}})");
  const auto found = stats.functions().find(PythonFunction{"", 0, "f"});
  ASSERT_NE(found, stats.functions().end());
  EXPECT_EQ(found->second, (SampledTime{1'000'000'000, 1'000'000'000}));
}

TEST(PyinstrumentStats, SaysWhatIsWrong) {
  EXPECT_NE(error_of(""), "read");
  EXPECT_NE(error_of("[]"), "read");
  EXPECT_THAT(error_of("{}"), HasSubstr("no root_frame"));
  EXPECT_THAT(error_of(session("7")), HasSubstr("not an object"));
  EXPECT_THAT(error_of(session("{}")), HasSubstr("without function or time"));
  EXPECT_NE(error_of(session(frame("f", "nan"))), "read");
  EXPECT_THAT(error_of(session(frame("f", "1e300"))), HasSubstr("without function or time"));
  EXPECT_THAT(error_of(session(frame("f", "1.0", frame("g", "null")))), HasSubstr("without"));
  EXPECT_THAT(error_of(session(frame(std::string(4097, 'x'), "1.0"))), HasSubstr("too long"));
}

std::string nested(std::size_t frames) {
  std::string json;
  for (std::size_t i = 0; i < frames; ++i) {
    json += R"({"function": "f", "time": 1.0, "children": [)";
  }
  for (std::size_t i = 0; i < frames; ++i) json += "]}";
  return session(json);
}

TEST(PyinstrumentStats, DeepStacksAreReadAndBounded) {
  EXPECT_EQ(error_of(nested(PyinstrumentStats::kMaxFrames)), "read");
  EXPECT_NE(error_of(nested(2 * PyinstrumentStats::kMaxFrames)), "read");
  EXPECT_NE(error_of(nested(200'000)), "read");
}

TEST(PyinstrumentStats, CutAtEveryByteIsAnError) {
  for (std::size_t size = 0; size + 2 < kJob.size(); ++size) {  // "}\n"
    ASSERT_NE(error_of(kJob.substr(0, size)), "read") << size;
  }
}

TEST(PyinstrumentStats, AnyBytesAreReadOrRefused) {
  std::mt19937 random{4};
  std::size_t refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = kJob;
    for (std::uint32_t flips = 1 + random() % 4; flips > 0; --flips) {
      damaged[random() % damaged.size()] ^= static_cast<char>(1U << random() % 8);
    }
    if (error_of(damaged) != "read") ++refused;
  }
  EXPECT_GT(refused, 5000);
}

}  // namespace trainwatch::pyinstrument_stats_test
