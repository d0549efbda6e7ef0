// SPDX-License-Identifier: Apache-2.0
// dataloader_getnext, dataloader_workers, dataloader_initialization and batchtime.
#include <algorithm>

#include "tests/unit/analysis/analysis_bench.h"

namespace trainwatch::loader_analyses_test {

constexpr const char* kGetNext = "_MultiProcessingDataLoaderIter::GetNext";

TEST(DataloaderGetnext, TwiceTheMedianIsAnOutlier) {
  AnalysisBench bench("dataloader_getnext");
  for (const std::int64_t duration : {10, 10, 19, 10, 20, 50}) {
    Span call = bench.span("DataLoaderIter", kGetNext, 1000 * duration, duration);
    call.worker = 3;
    bench.add(call);
    bench.save_and_load();
  }
  bench.add(bench.span("DataIterator", "dataset::GetNext", 0, 999));
  // The median of 10 10 10 19 20 50 is 14.5.
  EXPECT_TRUE(has(bench.text(), R"("count":6,"median_us":14.5,"max_us":50,"outlier_count":1)"));
  EXPECT_TRUE(has(bench.text(), R"("rows":[[50000,50050,50,3,"algo-1-0"]])")) << bench.text();
}

TEST(DataloaderGetnext, OnlyTheLongestOutliersAreListed) {
  AnalysisBench bench("dataloader_getnext");
  for (std::int64_t i = 0; i < 1000; ++i) {
    bench.add(bench.span("DataLoaderIter", kGetNext, 10'000 * i, i < 600 ? 10 : 100 + i));
  }
  EXPECT_TRUE(has(bench.text(), R"("outlier_count":400)")) << "counted";
  EXPECT_TRUE(has(bench.text(), R"("rows":[[9990000,9991099,1099,)")) << "the longest first";
  EXPECT_TRUE(has(bench.text(), "[9000000,9001000,1000,"));
  EXPECT_FALSE(has(bench.text(), "[8990000,")) << "the hundred and first is not";
}

TEST(DataloaderWorkers, CountsProcesses) {
  AnalysisBench bench("dataloader_workers");
  for (std::int64_t i = 0; i < 3; ++i) {
    bench.add(bench.span("DataLoaderWorker", "_worker_loop", i, 10));
  }
  EXPECT_TRUE(has(bench.text(), R"("count":3,"median_us":10,"max_us":10,"outlier_count":0)"));
}

TEST(DataloaderInitialization, SaysHowEachIteratorIsSetUp) {
  AnalysisBench bench("dataloader_initialization");
  for (const std::int64_t start : {200, 100, 300}) {
    Span made = bench.span("DataLoaderIterInitialize", "_Multi", start, 10);
    made.num_workers = static_cast<std::int32_t>(start / 100);
    made.pin_memory = PinMemory::yes;
    bench.add(made);
    bench.save_and_load();
  }
  bench.add(bench.span("DataLoaderIterInitialize", "_Single", 0, 10));
  EXPECT_TRUE(has(bench.text(), R"("_Multi":{"pin_memory":true,"num_workers":1,)"))
      << "the earliest one's, whatever comes first: " << bench.text();
  EXPECT_TRUE(has(bench.text(), R"("_Single":{"pin_memory":null,"num_workers":null,)"));
}

TEST(Batchtime, FromOneStartToTheNextOfTheSameProcess) {
  AnalysisBench bench("batchtime");
  for (const std::int64_t start : {0, 100, 200, 300, 900}) {
    for (const std::int64_t process : {1, 2}) {
      Span call = bench.span("DataLoaderIter", kGetNext, start + process, 5);
      call.kind = SpanKind::data_wait;
      call.process = process;
      bench.add(call);
    }
    bench.save_and_load();
  }
  EXPECT_TRUE(has(bench.text(), R"("count":8,"median_us":100,"max_us":600,"outlier_count":2)"));
  EXPECT_TRUE(has(bench.text(), R"("rows":[[301,901,600,-1,"algo-1-0",null,null,null,null],)"
                                R"([302,902,600,)"))
      << bench.text();
}

// The long batch is from 4 s to 9 s.
void play_batches(AnalysisBench& bench, bool samples, bool spans) {
  constexpr std::int64_t kSecond = 1'000'000;
  for (std::int64_t second = 0; second < 12 && samples; ++second) {
    const bool slow = second >= 4 && second <= 9;
    bench.sample("cpu", "cpu0", "CPUUtilization", second * kSecond, slow ? 90 : 10);
    bench.sample("cpu", "cpu1", "CPUUtilization", second * kSecond, slow ? 50 : 10);
    bench.sample("gpu", "gpu0", "GPUUtilization", second * kSecond, slow ? 3 : 80);
  }
  for (const std::int64_t second : {0, 1, 2, 3, 4, 9, 10}) {
    if (!spans) continue;
    Span call = bench.span("DataLoaderIter", kGetNext, second * kSecond, 5);
    call.kind = SpanKind::data_wait;
    bench.add(call);
    bench.step(second * kSecond + 10, kSecond / 2, second);
    bench.add(bench.span("Forward", "model", second * kSecond + 10, 2 * kSecond, second));
  }
  // Comes late, as PyTorch's hook reports what was in a step.
  if (spans) bench.add(bench.span("Backward(post-forward)", "model", 8 * kSecond, 2 * kSecond));
  if (spans) bench.add(bench.span("DataLoaderWorker", "_worker_loop", 0, 4 * kSecond));
}

TEST(Batchtime, SaysWhatTheSystemAndTheFrameworkDidThen) {
  for (const bool samples_first : {true, false}) {
    AnalysisBench bench("batchtime");
    play_batches(bench, samples_first, !samples_first);
    bench.save_and_load();
    play_batches(bench, !samples_first, samples_first);
    const std::string text = bench.text();
    EXPECT_TRUE(has(text, R"("rows":[[4000000,9000000,5000000,-1,"algo-1-0",70,90,0,3]])")) << text;
    EXPECT_TRUE(has(text, R"("rows":[[4000000,9000000,"algo-1-0","model",4000020],)"
                          R"([4000000,9000000,"algo-1-0","_MultiProcessingDataLoaderIter)"))
        << text;
    EXPECT_FALSE(has(text, "_worker_loop")) << "it had ended";
    EXPECT_FALSE(has(text, "Step:"));
  }
}

TEST(Batchtime, AStateThatIsCutShortIsRefused) {
  AnalysisBench bench("batchtime");
  play_batches(bench, true, true);
  const std::string state = bench.save();
  EXPECT_TRUE(bench.loads(state));
  for (std::size_t size = 0; size < state.size(); size += 7) {
    EXPECT_FALSE(bench.loads(std::string_view(state).substr(0, size))) << size;
  }
}

TEST(Batchtime, OnlyOutliersThatAreListedAreExplained) {
  AnalysisBench bench("batchtime");
  std::int64_t start = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    start += i < 600 ? 10 : 100 + i;
    Span call = bench.span("DataLoaderIter", kGetNext, start, 5);
    call.kind = SpanKind::data_wait;
    bench.add(call);
  }
  const std::string text = bench.text();
  const std::string activity = text.substr(text.find("outlier_activity"));
  EXPECT_EQ(std::count(activity.begin(), activity.end(), '['), 2 + 100) << "the longest hundred";
}

}  // namespace trainwatch::loader_analyses_test
