// SPDX-License-Identifier: Apache-2.0
// What of a profiler's document goes into a CycleTrace.
#include <gtest/gtest.h>

#include "cycle_reading.h"
#include "pipeline/decode/kineto/launch_correlator.h"

namespace trainwatch::testing::cycle_test {

constexpr const char* kLoad = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

std::string bandwidth(const char* value) {
  return std::string{"\"memory bandwidth (GB/s)\": "} + value;
}

TEST(Cycle, RowsOfEveryKindWithTheirPlaceInTime) {
  Reading reading;
  const CycleTrace& cycle = reading.cycle(document(
      list(event("user_annotation", "ProfilerStep#4", "100.001", "50.5"),
           event("cpu_op", "aten::add", "101", "2"), event("user_annotation", kLoad, "102", "3.25"),
           event("gpu_memcpy", "Memcpy HtoD", "110", "0",
                 R"("device": 0, "stream": 9, "correlation": 5, )" + bandwidth("12.5")),
           call("cudaMemcpyAsync", "109.5", 5), work("120", 6), call("cudaLaunchKernel", "119", 6),
           event("gpu_memset", "Memset (Device)", "105", "1",
                 R"("stream": 7, "correlation": 0, )" + bandwidth("N/A")),
           event("cuda_sync", "Stream Sync", "126", "1", R"("stream": 7, "correlation": 8)"),
           event("cuda_sync", "Context Sync", "127", "1", R"("stream": -1, "correlation": 9)"),
           event("gpu_user_annotation", "ProfilerStep#4", "104", "30"),
           R"({"ph": "f", "id": 6, "cat": "kernel", "name": "x", "ts": 1, "pid": 1, "tid": 7})")));
  EXPECT_EQ(reading.diagnostics.reasons, std::vector<std::string>{});
  EXPECT_EQ(reading.decoder.records(), 12U);
  const auto at = [](const char* kind, int after_base, const char* rest) {
    return std::string{"\n"} + kind + " " + std::to_string(kBase + after_base) + " " + rest;
  };
  EXPECT_EQ(test::describe(cycle),
            "0 0 " + at("device", 105000, "1000 2097151 7 1 0.000000 2 2 Memset (Device)") +
                at("device", 120000, "10000 1 7 2 0.000000 0 0 gemm") +
                at("device", 126000, "1000 2097151 7 1 0.000000 3 3 Stream Sync") +
                at("device", 110000, "0 0 9 0 12.500000 1 2 Memcpy HtoD") +
                at("launch", 109500, "2500 cudaMemcpyAsync") +
                at("launch", 119000, "2500 cudaLaunchKernel") +
                at("annotation", 100001, "50500 0 ProfilerStep#4") +
                at("annotation", 102000, "3250 0 ") + kLoad +
                at("annotation", 104000, "30000 1 ProfilerStep#4") +
                at("step", 100001, "50500 4 3250 ") + at("data wait", 102000, "") +
                std::to_string(kBase + 105250) + " \nworld 0 ");
  const Subject& rank = reading.interner.subjects[cycle.subject];
  EXPECT_EQ(rank.rank, 3);
  EXPECT_EQ(rank.job, "job");
}

Subject subject_of(const std::string& path) {
  Reading reading(path);
  const std::string step = event("user_annotation", "ProfilerStep#4", "100", "50");
  const CycleTrace& cycle =
      reading.cycle("{\"schemaVersion\": 1, \"traceEvents\": [" + step + "]}");
  return reading.interner.subjects[cycle.subject];
}

// torch's default names have no rank, and without torch.distributed the document has none either.
TEST(Cycle, RanksThatNothingNamesAreTheirProcesses) {
  const Subject first = subject_of("/w/vm_8959.1795235697709.pt.trace.json");
  EXPECT_EQ(first.node, "vm");
  EXPECT_EQ(first.rank, kNoRank);
  EXPECT_EQ(first.process, 8959);
  EXPECT_NE(first, subject_of("/w/vm_8960.1795235697709.pt.trace.json"));
  EXPECT_EQ(first, subject_of("/w/vm_8959.1795235797709.pt.trace.json")) << "its next cycle";
  EXPECT_EQ(subject_of("/w/trace.json").process, 1) << "of the events";
  EXPECT_EQ(subject_of("/w/worker3.1795235697709.pt.trace.json").process, kNoProcess);
}

// Chrome, perf and viztracer write the same format.
TEST(Cycle, ATraceOfAnotherProgramIsNone) {
  Reading reading("/w/trace.json");
  reading.feed("{\"traceEvents\": [" +
               list(event("blink", "Document::updateStyle", "100", "50"),
                    event("FEE", "main (train.py:3)", "100", "900")) +
               "], \"displayTimeUnit\": \"ms\"}");
  reading.decoder.finish(reading.events);
  EXPECT_EQ(reading.decoder.records(), 2U);
  EXPECT_TRUE(reading.log.cycles.empty());
  EXPECT_TRUE(reading.events.empty());
}

// Without Kineto events have no category: a step or an operator is enough.
TEST(Cycle, OneThingOfPyTorchMakesIt) {
  for (const std::string name : {"ProfilerStep#3", "aten::addmm"}) {
    Reading reading("/w/trace.json");
    reading.cycle(
        R"([{"name": ")" + name +
        R"(", "ph": "X", "ts": 1, "dur": 5, "tid": 1, "pid": "CPU functions", "args": {}}])");
  }
}

TEST(Cycle, WhatTheHostDid) {
  Reading reading;
  const CycleTrace& cycle = reading.cycle(document(list(
      event("user_annotation", "ProfilerStep#4", "0", "200000"),
      event("cpu_op", "aten::add", "100", "50000"),  // then nothing for 30 ms but an annotation
      event("user_annotation", "forward", "50100", "40000"), call("cudaLaunchKernel", "80100", 1),
      event("cuda_runtime", "cudaStreamSynchronize", "80200", "20000", R"("cbid": 131)"),
      event("Operator", "Optimizer.step", "100000", "90000"),  // of 2021: may be an annotation
      event("Operator", "aten::mul", "120200", "10"))));
  const auto text = test::describe(cycle);
  const auto interval = [](const char* what, int start, int end) {
    return std::string{"\n"} + what + " " + std::to_string(kBase + start) + " " +
           std::to_string(kBase + end) + " ";
  };
  EXPECT_NE(text.find(interval("blocking call", 80'200'000, 100'200'000)), std::string::npos);
  EXPECT_NE(text.find(interval("host pause", 50'100'000, 80'100'000) +
                      interval("host pause", 100'200'000, 120'200'000)),
            std::string::npos)
      << text;
}

TEST(Cycle, CommunicationWithinTheLayersOfAModel) {
  const std::tuple<const char*, const char*, const char*, bool> kKernels[] = {
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", "0", "default_pg", false},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", "12", "TENSOR_MODEL_PARALLEL_GROUP", true},
      {"ncclDevKernel_AllGather_RING_LL(x)", "3", "mesh_tp", true},
      {"ncclDevKernel_AllGather_RING_LL(x)", "tp/0", "", true},
      {"ncclDevKernel_AllGather_RING_LL(x)", "4", "mesh_dp_shard_cp", false},
      {"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(x)", "5", "EXPERT_DATA_PARALLEL_GROUP", false},
      {"ncclDevKernel_SendRecv(x)", "6", "", true},
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "7", "", false}};
  for (const auto& [kernel, group, description, within] : kKernels) {
    Reading reading;
    const CycleTrace& cycle = reading.cycle(document(
        list(event("kernel", kernel, "30", "5",
                   std::string(R"("stream": 20, "Process Group Name": ")") + group +
                       R"(", "Process Group Description": ")" + description + R"(", "Seq": 4)"))));
    ASSERT_EQ(cycle.device.size(), 1U);
    EXPECT_EQ(cycle.device[0].within_layers, within) << kernel << description;
  }
}

TEST(Cycle, CollectivesThatSayWhichTheyAre) {
  const auto collective = [](const char* ts, const char* args) {
    return event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", ts, "5",
                 std::string{R"("device": 0, "stream": 20, "correlation": 0, "Seq")"} + args);
  };
  Reading reading;
  std::string text = document(list(collective("30", R"(: 4, "Process Group Name": "tp\/0")"),
                                   collective("10", R"(: 3, "Process Group Name": "dp")"),
                                   collective("50", R"(: 4)"),
                                   event("kernel", "gemm", "1", "1", R"("stream": 7, "Seq": 1)")));
  text.replace(text.find(R"({"rank": 3})"), 11, R"({"rank": 3, "world_size": 16})");
  const CycleTrace& cycle = reading.cycle(text);
  ASSERT_EQ(cycle.collectives.size(), 2U);
  EXPECT_EQ(cycle.collectives[0].sequence, 3);
  EXPECT_EQ(cycle.names.text(cycle.collectives[0].group), "dp");
  EXPECT_EQ(cycle.collectives[1].start_ns, kBase + 30'000);
  EXPECT_EQ(cycle.names.text(cycle.collectives[1].group), "tp/0");
  EXPECT_EQ(cycle.world_size, 16);
}

TEST(Cycle, LaunchesAreFoundInAnyOrderAndAtAnyDistance) {
  for (const bool calls_first : {false, true}) {
    std::string calls;
    std::string rows;
    for (int i = 1; i <= 3000; ++i) {
      calls += call("cudaLaunchKernel", std::to_string(i), i) + ",\n";
      rows += work(std::to_string(10 * i), i) + ",\n";
    }
    Reading reading;
    const CycleTrace& cycle =
        reading.cycle(document((calls_first ? calls + rows : rows + calls) + work("1", 0)));
    ASSERT_EQ(cycle.device.size(), 3001U);
    ASSERT_EQ(cycle.launches.size(), 3000U);
    EXPECT_EQ(cycle.device[0].launch, kNoLaunch);
    for (std::size_t i = 1; i <= 3000; ++i) {
      const LaunchRow& launch = cycle.launches.at(cycle.device[i].launch);
      ASSERT_EQ(launch.start_ns - kBase, static_cast<std::int64_t>(i) * 1000);
    }
  }
}

TEST(Cycle, OneLaunchMayHaveManyRows) {
  Reading reading;
  const CycleTrace& cycle =
      reading.cycle(document(list(work("50", 4), work("40", 4, 8), call("cudaGraphLaunch", "30", 4),
                                  work("60", 4, 9), work("70", 5))));
  ASSERT_EQ(cycle.launches.size(), 1U);
  ASSERT_EQ(cycle.device.size(), 4U);
  EXPECT_EQ(cycle.device[0].launch, 0U);
  EXPECT_EQ(cycle.device[1].launch, kNoLaunch);  // whose call is not in the file
  EXPECT_EQ(cycle.device[2].launch, 0U);
  EXPECT_EQ(cycle.device[3].launch, 0U);
}

TEST(Cycle, CallsThatLaunchedNothingAreKeptByName) {
  Reading reading;
  const CycleTrace& cycle = reading.cycle(document(
      list(call("cudaEventRecord", "1", 1), call("cudaLaunchKernel", "2", 2),
           call("cudaStreamWaitEvent", "3", 3),
           event("cuda_sync", "Stream Wait Event", "4", "1", R"("stream": 7, "correlation": 3)"),
           event("cuda_runtime", "cudaLaunchKernel", "5", "1"))));
  ASSERT_EQ(cycle.launches.size(), 2U);
  EXPECT_EQ(cycle.names.text(cycle.launches[0].name), "cudaLaunchKernel");
  EXPECT_EQ(cycle.names.text(cycle.launches[1].name), "cudaStreamWaitEvent");
  ASSERT_EQ(cycle.device.size(), 1U);
  EXPECT_EQ(cycle.device[0].launch, 1U);
}

TEST(Cycle, CategoriesOfEveryVersionAndDevice) {
  const std::string args = R"("device": 1, "stream": "108", "correlation": 3)";
  const std::pair<const char*, DeviceKind> kinds[] = {
      {"kernel", DeviceKind::kernel},          {"Kernel", DeviceKind::kernel},
      {"gpu_memcpy", DeviceKind::memory_copy}, {"Memcpy", DeviceKind::memory_copy},
      {"gpu_memset", DeviceKind::memory_set},  {"Memset", DeviceKind::memory_set},
      {"cuda_sync", DeviceKind::sync},         {"xpu_sync", DeviceKind::sync},
      {"cuda_event", DeviceKind::sync},        {"mtia_ccp_events", DeviceKind::accelerator},
      {"hpu_op", DeviceKind::accelerator},     {"collective_comm", DeviceKind::accelerator}};
  for (const auto& [category, kind] : kinds) {
    Reading reading;
    const CycleTrace& cycle = reading.cycle(document(event(category, "n", "1", "1", args)));
    ASSERT_EQ(cycle.device.size(), 1U) << category;
    EXPECT_EQ(cycle.device[0].kind, kind);
    EXPECT_EQ(cycle.stream_of(cycle.device[0]), 108);
  }
  for (const char* category :
       {"cuda_runtime", "cuda_driver", "Runtime", "xpu_runtime", "xpu_driver", "mtia_runtime",
        "glow_runtime", "privateuse1_runtime", "privateuse1_driver"}) {
    Reading reading;
    EXPECT_EQ(reading.cycle(document(event(category, "xLaunch", "1", "1", args))).launches.size(),
              1U)
        << category;
  }
}

// A call takes less room than others: what it may last is bounded.
TEST(Cycle, TheLongestTimes) {
  Reading reading;
  const CycleTrace& cycle = reading.cycle(document(
      list(event("kernel", "gemm", "1", "604800000000", R"("stream": 7)"),
           event("cuda_runtime", "cudaLaunchKernel", "1", "604800000000", R"("correlation": 8)"))));
  ASSERT_EQ(cycle.device.size(), 1U);
  EXPECT_EQ(cycle.device[0].duration_ns, 604'800'000'000'000);
  ASSERT_EQ(cycle.launches.size(), 1U);
  EXPECT_EQ(cycle.launches[0].duration_ns, LaunchRow::kLongestNs);
}

TEST(Cycle, EachActivityKeepsItsPlace) {
  Reading reading;
  const CycleTrace& cycle = reading.cycle(
      document(list(event("gpu_memcpy", "Memcpy HtoD", "3", "1",
                          R"("device": 0, "stream": 7, )" + bandwidth("12.5")),
                    event("kernel", "gemm", "2", "1", R"("device": 0, "stream": 7)"),
                    event("kernel", "gemm", "1", "1", R"("device": 3, "stream": 7)"),
                    event("gpu_memcpy", "Memcpy HtoD", "4", "1",
                          R"("device": 0, "stream": 7, )" + bandwidth("2.5")),
                    event("kernel", "gemm", "5", "1", R"("device": 0, "stream": -7)"))));
  std::string found;
  for (const DeviceActivity& row : cycle.device) {
    const DevicePlace& place = cycle.place_of(row);
    found += std::to_string(row.start_ns - kBase) + ":" + std::to_string(place.stream) + "/" +
             std::to_string(place.device) + "/" +
             std::to_string(static_cast<int>(10 * place.memory_gbps)) + " ";
  }
  EXPECT_EQ(found, "5000:-7/0/0 1000:7/3/0 2000:7/0/0 3000:7/0/125 4000:7/0/25 ");
  EXPECT_EQ(cycle.places.size(), 5U);
}

// ROCm's calls carry a stream, and so do some operators; HTA takes the latter for device activity.
TEST(Cycle, OnlyWhatADeviceRunsIsDeviceActivity) {
  Reading reading;
  const CycleTrace& cycle = reading.cycle(document(list(
      event("cuda_runtime", "hipMemcpyAsync", "1", "1", R"("stream": "0x0", "correlation": 1)"),
      event("cpu_op", "triton_add", "1", "1", R"("stream": 7)"),
      event("kernel", "no stream", "1", "1", R"("correlation": 1)"),
      event("kernel", "no number", "1", "1", R"("stream": "0x0", "correlation": 1)"),
      event("kernel", "the default stream", "1", "1", R"("stream": 0, "correlation": 1)"))));
  ASSERT_EQ(cycle.device.size(), 1U);
  EXPECT_EQ(cycle.stream_of(cycle.device[0]), 0);
  EXPECT_EQ(cycle.place_of(cycle.device[0]).device, 1);  // the pid's, where the arguments have none
  EXPECT_EQ(cycle.device[0].launch, 0U);
}

TEST(Cycle, ABrokenEventIsCountedAndNothingElseIsLost) {
  Reading reading;
  const CycleTrace& cycle = reading.cycle(document(
      list(work("1", 1), work("\"one\"", 2), work("9", 3), call("cudaLaunchKernel", "x", 3),
           event("kernel", "long", "1", "604800000001", R"("stream": 7)"),
           event("kernel", "\\u00zz", "1", "1", R"("stream": 7)"),
           R"({"ph": "X", "cat": "kernel", "name" "gemm"})", call("cudaLaunchKernel", "0", 1))));
  EXPECT_EQ(reading.diagnostics.reasons,
            (std::vector<std::string>{"time", "time", "time", "utf8", "syntax"}));
  EXPECT_EQ(cycle.device.size(), 2U);
  EXPECT_EQ(cycle.launches.size(), 1U);
  EXPECT_EQ(cycle.left_out, 0U);
}

TEST(Cycle, TimesAtTheEndOfTheWorldDoNotOverflow) {
  Reading reading;
  const CycleTrace& cycle = reading.cycle(
      document(list(work("9223372036854775807", 1), work("-9223372036854775807", 2))));
  ASSERT_EQ(cycle.device.size(), 2U);
  EXPECT_LT(cycle.device[0].end_ns(), 0);
  EXPECT_GT(cycle.device[1].end_ns(), cycle.device[1].start_ns);
}

TEST(Cycle, NamesTakeABoundedRoom) {
  Reading reading;
  std::string events = work("1", 1);
  for (int i = 0; i < 10; ++i) {
    events += ",\n" + event("kernel", std::string(900'000, static_cast<char>('a' + i)), "1", "1",
                            R"("stream": 7)");
  }
  reading.feed(document(events), 1U << 16U);
  ASSERT_EQ(reading.log.cycles.size(), 1U);
  EXPECT_EQ(reading.log.cycles[0].device.size(), 10U);
  EXPECT_EQ(reading.log.cycles[0].left_out, 1U);
}

TEST(Cycle, IsNotEmittedBeforeTheDocumentIsComplete) {
  const std::string content = document(work("1", 1));
  Reading reading;
  reading.feed(content.substr(0, content.size() - 1));
  EXPECT_TRUE(reading.log.cycles.empty());
  reading.feed(content.substr(content.size() - 1));
  EXPECT_EQ(reading.log.cycles.size(), 1U);
  reading.decoder.finish(reading.events);
  EXPECT_EQ(reading.log.cycles.size(), 1U);
}

TEST(Cycle, EveryCutGivesTheSame) {
  const std::string content =
      document(list(event("user_annotation", "ProfilerStep#4", "100.001", "50.5"), work("120", 6),
                    call("cudaLaunchKernel", "119", 6), work("1", 1)));
  Reading whole;
  const std::string expected = test::describe(whole.cycle(content));
  for (std::size_t cut = 1; cut < content.size(); ++cut) {
    Reading reading;
    reading.feed(content.substr(0, cut), cut);
    reading.feed(content.substr(cut), content.size());
    ASSERT_EQ(reading.log.cycles.size(), 1U);
    EXPECT_EQ(test::describe(reading.log.cycles[0]), expected) << cut;
  }
}

// The state has no cycle: rather none than the second half of one.
TEST(Cycle, ALoadedDecoderHasToReadAgain) {
  const std::string content = document(list(work("120", 6), call("cudaLaunchKernel", "119", 6)));
  Reading first;
  first.feed(content.substr(0, content.size() / 2));
  EXPECT_FALSE(first.decoder.needs_replay());
  StateIo saving = StateIo::saving();
  first.decoder.state(saving);
  const std::string state = saving.take();
  Reading second;
  StateIo loading = StateIo::loading(state);
  second.decoder.state(loading);
  EXPECT_TRUE(second.decoder.needs_replay());
  second.feed(content.substr(content.size() / 2));
  EXPECT_TRUE(second.log.cycles.empty());
  EXPECT_FALSE(second.events.empty());
}

TEST(LaunchCorrelator, OldCallsThatLaunchNothingAreGivenUp) {
  CycleTrace cycle;
  const NameId name = cycle.names.intern("cudaStreamWaitEvent");
  LaunchCorrelator links;
  constexpr auto kCalls = static_cast<std::int64_t>(LaunchCorrelator::kMostWaiting) + 10;
  for (std::int64_t i = 1; i <= kCalls; ++i) links.call(cycle, {i, 1, name}, i, false);
  for (const std::int64_t correlation : {kCalls, std::int64_t{11}, std::int64_t{10}}) {
    cycle.device.emplace_back();
    links.add_activity(cycle, correlation);
  }
  links.finish(cycle);
  ASSERT_EQ(cycle.launches.size(), 2U);
  EXPECT_EQ(cycle.launches[cycle.device[0].launch].start_ns, kCalls);
  EXPECT_EQ(cycle.launches[cycle.device[1].launch].start_ns, 11);
  EXPECT_EQ(cycle.device[2].launch, kNoLaunch);
}

}  // namespace trainwatch::testing::cycle_test
