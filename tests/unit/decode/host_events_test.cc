// SPDX-License-Identifier: Apache-2.0
// The events of the host and the synchronisations in a CycleTrace, where somebody asks for them.
#include "pipeline/decode/kineto/host_events.h"

#include <gtest/gtest.h>

#include "cycle_reading.h"

namespace trainwatch::testing::host_events_test {

constexpr const char* kPath = "/w/host_1.1795235697709.pt.trace.json";

std::string on_thread(const std::string& category, const std::string& name, const std::string& pid,
                      const std::string& tid, const std::string& ts, const std::string& dur) {
  return R"({"cat": ")" + category + R"(", "name": ")" + name + R"(", "ph": "X", "tid": )" + tid +
         R"(, "pid": )" + pid + R"(, "ts": )" + ts + R"(, "dur": )" + dur + "}";
}

std::string wait(const std::string& name, const std::string& ts, int correlation, int stream,
                 const std::string& more = {}) {
  return event("cuda_sync", name, ts, "1",
               R"("device": 2, "stream": )" + std::to_string(stream) + R"(, "correlation": )" +
                   std::to_string(correlation) + more);
}

// The lines of describe() that begin with `kind`, times from kBase on.
std::string lines_of(const CycleTrace& cycle, const std::string& kind) {
  std::string found;
  const std::string all = test::describe(cycle) + "\n";
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    const std::string line = all.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(kind + " ")) continue;
    const std::size_t rest = line.find(' ', kind.size() + 1);
    const std::string start = line.substr(kind.size() + 1, rest - kind.size() - 1);
    found += std::to_string(std::stoll(start) - kBase) + line.substr(rest) + "\n";
  }
  return found;
}

TEST(HostEvents, ByThreadThenStartTheLongerFirst) {
  Reading reading(kPath, true);
  const CycleTrace& cycle = reading.cycle(document(
      list(on_thread("cpu_op", "late", "1", "7", "30", "1"),
           on_thread("python_function", "train.py", "1", "8", "5", "9"),
           on_thread("cpu_op", "inner", "1", "7", "10.001", "2"),
           on_thread("user_annotation", "ProfilerStep#3", "1", "7", "10.001", "40"),
           on_thread("Operator", "instant", "1", R"("7")", "10", "0"),
           on_thread("Runtime", "cudaMalloc", "2", "7", "3", "-1"),
           on_thread("Trace", "PyTorch Profiler (0)", "1", "7", "0", "99"),
           on_thread("gpu_user_annotation", "ProfilerStep#3", "0", "7", "12", "30"),
           R"({"ph": "X", "name": "no category", "pid": 1, "tid": 7, "ts": 1, "dur": 1})",
           R"({"ph": "X", "cat": "cpu_op", "name": "no duration", "pid": 1, "tid": 7, "ts": 1})",
           R"({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "ts": 1})")));
  EXPECT_EQ(reading.diagnostics.reasons, std::vector<std::string>{});
  EXPECT_EQ(reading.decoder.records(), 11U);
  EXPECT_EQ(lines_of(cycle, "host"),
            "10001 40000 0 2097151 2 ProfilerStep#3\n"
            "10001 2000 0 2097151 0 inner\n"
            "30000 1000 0 2097151 0 late\n"
            "5000 9000 1 2097151 3 train.py\n"
            "10000 0 2 2097151 0 instant\n"
            "3000 0 3 2097151 1 cudaMalloc\n");
}

TEST(HostEvents, CallsKnowWhatTheyLaunched) {
  Reading reading(kPath, true);
  const CycleTrace& cycle = reading.cycle(
      document(list(call("cudaGraphLaunch", "9", 5), work("12", 5), work("22", 5), work("40", 6),
                    call("cudaLaunchKernel", "8", 6), call("cudaFree", "20", 7))));
  EXPECT_EQ(lines_of(cycle, "launch"), "9000 2500 cudaGraphLaunch\n8000 2500 cudaLaunchKernel\n");
  ASSERT_EQ(cycle.device.size(), 3U);
  EXPECT_EQ(cycle.device[0].launch, 0U);
  EXPECT_EQ(cycle.device[1].launch, 0U);
  EXPECT_EQ(cycle.device[2].launch, 1U);
  EXPECT_EQ(lines_of(cycle, "host"),
            "8000 2500 0 1 1 cudaLaunchKernel\n"
            "9000 2500 0 0 1 cudaGraphLaunch\n"
            "20000 2500 0 2097151 1 cudaFree\n");
}

// A file may use a correlation twice: the driver's call inside the runtime's.
TEST(HostEvents, ACallIsNotWhatAnotherOneLaunched) {
  Reading reading(kPath, true);
  const CycleTrace& cycle = reading.cycle(document(list(
      work("12", 5), call("cudaLaunchKernel", "8", 5), call("cudaStreamSynchronize", "9", 5))));
  EXPECT_EQ(lines_of(cycle, "host"),
            "8000 2500 0 0 1 cudaLaunchKernel\n9000 2500 0 2097151 1 cudaStreamSynchronize\n");
}

TEST(HostEvents, SynchronisationsNameTheirCallsAndRecords) {
  Reading reading(kPath, true);
  const std::string record = R"(, "wait_on_stream": 20, "wait_on_cuda_event_record_corr_id": 3)";
  const CycleTrace& cycle = reading.cycle(document(
      list(call("cudaEventRecord", "1", 3), call("cudaStreamWaitEvent", "5", 4),
           wait("Stream Wait Event", "6", 4, 7, record), wait("Context Sync", "30", 9, -1),
           call("cudaDeviceSynchronize", "29", 9), wait("Stream Sync", "20", 8, 7),
           wait("Event Sync", "25", 77, -1, R"(, "wait_on_cuda_event_record_corr_id": 78)"),
           event("cuda_event", "cudaEventRecord", "1", "0", R"("stream": 7, "correlation": 3)"))));
  EXPECT_EQ(lines_of(cycle, "sync"),
            "6000 1000 2 7 20 0 1 Stream Wait Event\n"
            "20000 1000 2 7 -1 2097151 2097151 Stream Sync\n"
            "25000 1000 2 -1 -1 2097151 2097151 Event Sync\n"
            "30000 1000 2 -1 -1 2 2097151 Context Sync\n");
}

// The newest writer shows Stream Sync on a thread of its own; the arguments say the stream.
TEST(HostEvents, TheStreamOfAWaitIsNotItsThread) {
  Reading reading(kPath, true);
  const CycleTrace& cycle = reading.cycle(document(
      R"({"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 1000020, "ts": 1,
          "dur": 2, "args": {"cuda_sync_kind": "Stream Sync", "stream": 20, "correlation": 4}})"));
  EXPECT_EQ(lines_of(cycle, "sync"), "1000 2000 0 20 -1 2097151 2097151 Stream Sync\n");
}

TEST(HostEvents, OnlyForThoseWhoAsk) {
  const std::string content = document(
      list(on_thread("cpu_op", "a", "1", "7", "30", "1"), wait("Context Sync", "30", 9, -1),
           call("cudaDeviceSynchronize", "29", 9), on_thread("cpu_op", "b", "1", "7", "x", "1")));
  Reading without;
  const CycleTrace& cycle = without.cycle(content);
  EXPECT_TRUE(cycle.host.empty() && cycle.syncs.empty() && cycle.launches.empty());
  EXPECT_EQ(without.diagnostics.reasons, std::vector<std::string>{});
  Reading with(kPath, true);
  EXPECT_EQ(with.cycle(content).host.size(), 2U);
  EXPECT_EQ(with.diagnostics.reasons, std::vector<std::string>{"time"});
}

TEST(HostEvents, TooManyThreadsAreLeftOut) {
  Reading reading(kPath, true);
  std::string events = on_thread("cpu_op", "a", "1", '"' + std::string(300, 'x') + '"', "1", "1");
  constexpr int kThreads = static_cast<int>(HostEvents::kMostThreads) + 2;
  for (int i = 0; i < kThreads; ++i)
    events += ",\n" + on_thread("cpu_op", "a", "1", std::to_string(i), "1", "1");
  events += ",\n" + on_thread("cpu_op", "a", "1", "5", "3", "1");  // known
  const CycleTrace& cycle = reading.cycle(document(events));
  EXPECT_EQ(cycle.host.size(), HostEvents::kMostThreads + 1);
  EXPECT_EQ(cycle.host.back().thread, HostEvents::kMostThreads - 1);
  EXPECT_EQ(cycle.left_out, 3U);
}

TEST(HostEvents, CutsDoNotMatter) {
  const std::string content =
      document(list(on_thread("cpu_op", R"(caf\u00e9 \"x\")", R"("a")", R"("b c")", "1", "9"),
                    call("cudaLaunchKernel", "9", 5), work("12", 5),
                    wait("Stream Sync", "20", 8, 7), call("cudaStreamSynchronize", "19", 8)));
  const auto read = [&](std::size_t piece) {
    Reading reading(kPath, true);
    reading.feed(content, piece);
    reading.decoder.finish(reading.events);
    return test::describe(reading.log.cycles.at(0));
  };
  const std::string whole = read(content.size());
  EXPECT_NE(whole.find("caf\u00e9 \"x\""), std::string::npos);
  for (std::size_t piece = 1; piece < 80; ++piece) EXPECT_EQ(read(piece), whole);
}

}  // namespace trainwatch::testing::host_events_test
