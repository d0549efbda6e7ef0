// SPDX-License-Identifier: Apache-2.0
// What NCCL's Inspector writes of each collective.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "decode_harness.h"
#include "samples.h"

namespace trainwatch::testing::nccl_inspector_test {

using Lines = std::vector<std::string>;

constexpr const char* kPath = "/w/nccl-inspector-17/node-a-pid9.log";

std::string line(std::int64_t at_us, const std::string& coll, std::int64_t bytes, double busbw) {
  return R"({"header":{"n_ranks":8},"metadata":{"inspector_output_format_version":"v4.0",)"
         R"("hostname":"n","pid":9,"dump_timestamp_us":)" +
         std::to_string(at_us) + R"(},"coll_perf":{"coll":")" + coll +
         R"(","coll_msg_size_bytes":)" + std::to_string(bytes) + R"(,"coll_busbw_gbs":)" +
         std::to_string(busbw) + "}}\n";
}

// Tag and value of each scalar.
Lines scalars(const std::string& content) {
  DecodeRun run{kPath};
  run.feed(content);
  run.finish();
  Lines lines;
  for (const Event& event : run.raw_events()) {
    const auto& scalar = std::get<Scalar>(event);
    EXPECT_TRUE(scalar.timed && scalar.kind == ScalarKind::other && scalar.step == kNoStep);
    std::string value = std::to_string(scalar.value);
    value.resize(value.find('.') + 2);
    lines.push_back(std::string(run.interner().text(scalar.tag)) + "=" + value);
  }
  return lines;
}

TEST(NcclInspector, TheSample) {
  const Outcome outcome = decode(kPath, kNcclInspector);
  EXPECT_EQ(outcome.format, "nccl_inspector");
  EXPECT_EQ(outcome.rejects, (Lines{"type"}));
  EXPECT_EQ(
      scalars(kNcclInspector),
      (Lines{"nccl/AllReduce/8 ranks/1MiB/busbw_gbs=485.5", "nccl/Send/8 ranks/8KiB/busbw_gbs=20.0",
             "nccl/dropped=3.0", "nccl/AllReduce/8 ranks/1MiB/busbw_gbs=100.0",
             "nccl/AllReduce/8 ranks/1MiB/busbw_gbs=200.0"}));
  // The rank in it is one of a communicator.
  EXPECT_NE(outcome.events[0].find("job/node-a/-1/"), std::string::npos);
}

TEST(NcclInspector, ThousandsOfLinesOfADumpGiveAFewMeans) {
  std::string content;
  for (int i = 0; i < 1000; ++i)
    content += line(1'700'000'000'000'000 + i, "AllGather", 1 << 30, i);
  EXPECT_EQ(scalars(content).size(), 10U);
  EXPECT_EQ(scalars(content).back(), "nccl/AllGather/8 ranks/1GiB/busbw_gbs=255.5");
  // Another dump begins anew.
  const Lines two = scalars(line(1'700'000'000'000'000, "AllGather", 9000, 1) +
                            line(1'700'000'002'000'000, "AllGather", 9000, 3));
  EXPECT_EQ(two, (Lines{"nccl/AllGather/8 ranks/8KiB/busbw_gbs=1.0",
                        "nccl/AllGather/8 ranks/8KiB/busbw_gbs=3.0"}));
}

TEST(NcclInspector, SeriesAreBounded) {
  std::string content;
  for (int i = 0; i < 300; ++i)
    content += line(1'700'000'000'000'000, "c" + std::to_string(i), 1, 1);
  const Outcome outcome = decode(kPath, content);
  EXPECT_EQ(outcome.events.size(), 256U);
  EXPECT_EQ(outcome.rejects, (Lines{"cardinality"}));
}

TEST(NcclInspector, BadTimesAndLines) {
  const Outcome outcome =
      decode(kPath, line(1'700'000'000'000'000, "x", 1, 1) + line(-5, "x", 1, 1) +
                        R"({"coll_perf":[)"
                        "\n" +
                        line(1'700'000'000'000'000, "x", -1, 1));
  EXPECT_EQ(outcome.events.size(), 1U);
  EXPECT_EQ(outcome.rejects, (Lines{"time", "syntax", "type"}));
}

}  // namespace trainwatch::testing::nccl_inspector_test
