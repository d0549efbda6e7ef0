// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/lane.h"

#include <gtest/gtest.h>

#include <string>

namespace trainwatch::lane_test {

std::int64_t stamp(const std::string& path) {
  return place_of(path).order.stamp_ns;
}
std::string lane(const std::string& path) {
  return place_of(path).lane;
}

TEST(Stamp, IsNormalisedByItsNumberOfDigits) {
  EXPECT_EQ(stamp_of("1591160699"), 1591160699'000'000'000);
  EXPECT_EQ(stamp_of("1623143566756"), 1623143566756'000'000);
  EXPECT_EQ(stamp_of("1590461139923994"), 1590461139923994'000);
  EXPECT_EQ(stamp_of("1589314018481947000"), 1589314018481947000);
}

TEST(Stamp, NothingElseIsOne) {
  for (const char* text : {"", "4487", "20200519231", "159116069x", "-591160699", "9999999999",
                           "9999999999999999999"}) {
    EXPECT_EQ(stamp_of(text), ReadOrder::kNoStamp) << text;
  }
}

TEST(TraceName, AcceptsWhatWritersWrite) {
  for (const char* name : {"a.json",
                           "a.json.gz",
                           "a.json.tmp",
                           "a.json.gz.tmp",
                           "a.jsonl",
                           "a.ndjson",
                           "a.jsonl.gz",
                           "a.ndjson.gz",
                           "events.out.tfevents.1795597572.vm.19905.1",
                           "run-37i519yv.wandb",
                           "000000000004_worker_0.tfevents",
                           "slurm-17.out",
                           "stdout.log",
                           "console.log.1",
                           "slurm-17.err",
                           "nemo_log_globalrank-3_localrank-1.txt",
                           "nccl_trace_rank_12",
                           "_dump_0",
                           "rank_3",
                           "cycle_info.4711.0.3",
                           "node-a-pid4711.log",
                           "a.json.1",
                           "a.json.12.gz",
                           "a.jsonl-20261121",
                           "a.jsonl-20261121.gz"}) {
    EXPECT_TRUE(is_trace_name(name)) << name;
  }
  for (const char* name : {"json",
                           ".json",
                           "rank",
                           "rank_x",
                           "model_3",
                           "a.txt",
                           "a.log",
                           ".out",
                           "a.gz",
                           "a.tmp",
                           "a.json.corrupt",
                           "a.tfevents",
                           "a.json.0",
                           "a.json.12345",
                           "a.json-2026",
                           "training_job_end.ts",
                           "cycle_info.4711.current",
                           "a-pid.log",
                           "a.pb",
                           ""}) {
    EXPECT_FALSE(is_trace_name(name)) << name;
  }
}

// Numbers at their ends are no rotation.
TEST(Lane, EachCycleOfALauncherIsAFileOfItsOwn) {
  EXPECT_NE(place_of("/w/nvrx/cycle_info.17.0.2").lane, place_of("/w/nvrx/cycle_info.17.0.3").lane);
}

TEST(Lane, SystemMetricsOfANodeShareOneAcrossHours) {
  const std::string a = "/p/system/incremental/1591748100.algo-1.json";
  const std::string b = "/p/system/incremental/2020061000/1591748160.algo-1.json";
  EXPECT_EQ(lane(a), "system:/p/system:algo-1");
  EXPECT_EQ(lane(a), lane(b));
  EXPECT_LT(place_of(a).order, place_of(b).order);
  EXPECT_EQ(stamp(a), 1591748100'000'000'000);
  EXPECT_NE(lane(a), lane("/p/system/incremental/1591748100.algo-2.json"));
  EXPECT_NE(lane(a), lane("/q/system/incremental/1591748100.algo-1.json"));
  EXPECT_EQ(lane("/file-system/1591748100.algo-1.json"), "system:/file-system:algo-1");
}

TEST(Lane, TimelinesOfAWriterShareOneWithItsOpenFile) {
  const std::string closed =
      "/p/framework/pevents/2026112104/1795236016087300_0-algo-1_pythontimeline.json";
  const std::string next =
      "/p/framework/pevents/2026112105/1795239616087300_0-algo-1_pythontimeline.json";
  const std::string open = "/p/framework/0-algo-1_pythontimeline.json.tmp";
  EXPECT_EQ(lane(closed), lane(next));
  EXPECT_EQ(lane(closed), lane(open));
  EXPECT_FALSE(place_of(open).single);
  EXPECT_LT(place_of(closed).order, place_of(next).order);
  EXPECT_LT(place_of(next).order, place_of(open).order);
  EXPECT_NE(lane(open), lane("/p/framework/1-algo-1_pythontimeline.json.tmp"));
  EXPECT_NE(lane(open), lane("/p/framework/0-algo-1_horovod_timeline.json.tmp"));
}

TEST(Lane, OldNodeNamesWithUnderscoresAndNanosecondStamps) {
  EXPECT_EQ(lane("/framework/pevents/2020051923/1589930988000000_4487_0000_pythontimeline.json"),
            "timeline:/:4487_0000_pythontimeline");
  const std::string loose = "/r/1589314018481947000_1234-testhost_model_timeline.json";
  EXPECT_EQ(lane(loose), "timeline:/r:1234-testhost_model_timeline");
  EXPECT_EQ(stamp(loose), 1589314018481947000);
}

TEST(Lane, ProfilerTracesOfAWorkerShareOne) {
  const std::string ms = "/t/vm.example.org_8959.1795235697709.pt.trace.json";
  const std::string ns = "/t/vm.example.org_8959.1795235698709000000.pt.trace.json.gz";
  const std::string open = "/t/vm.example.org_8959.1795235699709000000.pt.trace.json.tmp";
  EXPECT_EQ(lane(ms), "profiler:/t:vm.example.org_8959");
  EXPECT_EQ(lane(ms), lane(ns));
  EXPECT_EQ(lane(ms), lane(open));
  EXPECT_EQ(stamp(ms), 1795235697709'000'000);
  EXPECT_LT(place_of(ms).order, place_of(ns).order);
  EXPECT_LT(place_of(ns).order, place_of(open).order);
}

TEST(Lane, TensorFlowTracesOfAHostShareOne) {
  const std::string base = "/p/framework/tensorflow/detailed_profiling/2020080513/";
  const std::string a = base + "000000000/plugins/profile/2020_08_05_13_37_44/ip-1.trace.json.gz";
  const std::string b = base + "000000010/plugins/profile/2020_08_05_13_38_02/ip-1.trace.json.gz";
  EXPECT_EQ(lane(a), "tensorflow:/p/framework/tensorflow/:ip-1");
  EXPECT_EQ(lane(a), lane(b));
  EXPECT_EQ(stamp(a), 1596634664'000'000'000);
  EXPECT_LT(place_of(a).order, place_of(b).order);
}

TEST(Lane, AnyOtherFileIsItsOwn) {
  for (const char* path :
       {"/t/rank0_trace.json", "/t/libkineto_activities_17.json", "/t/horovod_timeline_small.json",
        "/t/rank-0.Apr_03_18_51_38.1102.pt.trace.json", "relative.json", "/t/whatever"}) {
    EXPECT_EQ(lane(path), "file:" + std::string(path) + ":") << path;
    EXPECT_TRUE(place_of(path).single) << path;
    EXPECT_EQ(stamp(path), ReadOrder::kNoStamp) << path;
    EXPECT_EQ(place_of(path).order.path, path);
  }
  EXPECT_EQ(lane("/t/rank0_trace.json"), lane("/t/rank0_trace.json.tmp"));
  EXPECT_EQ(lane("/t/rank0_trace.json"), lane("/t/rank0_trace.json.gz"));
}

TEST(Lane, RotatedPiecesShareOneAndTheOldestComesFirst) {
  const char* const oldest_first[] = {"/r/a.jsonl-20261120.gz", "/r/a.jsonl-20261121",
                                      "/r/a.jsonl.10.gz",       "/r/a.jsonl.2.gz",
                                      "/r/a.jsonl.1",           "/r/a.jsonl"};
  for (std::size_t i = 0; i < std::size(oldest_first); ++i) {
    EXPECT_EQ(lane(oldest_first[i]), "file:/r/a.jsonl:");
    EXPECT_EQ(place_of(oldest_first[i]).order.base, "/r/a.jsonl");
    if (i == 0) continue;
    EXPECT_LT(place_of(oldest_first[i - 1]).order, place_of(oldest_first[i]).order);
  }
  EXPECT_LT(place_of("/r/a.jsonl").order, place_of("/r/b.jsonl.1").order);
}

TEST(ReadOrder, IsStampThenPath) {
  const auto order = [](std::int64_t stamp, std::string path) {
    return ReadOrder{stamp, path, 0, 0, path};
  };
  EXPECT_LT(order(1, "/z"), order(2, "/a"));
  EXPECT_LT(order(2, "/a"), order(2, "/b"));
  EXPECT_LT(order(2, "/b"), order(ReadOrder::kNoStamp, "/a"));
}

}  // namespace trainwatch::lane_test
