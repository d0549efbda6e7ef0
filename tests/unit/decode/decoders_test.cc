// SPDX-License-Identifier: Apache-2.0
// What each decoder makes of its sample, said in full, and the quirks around it.
#include <gtest/gtest.h>

#include "decode_harness.h"
#include "pipeline/decode/event_file/tagged_scalars.h"
#include "pipeline/decode/event_kind.h"
#include "samples.h"

namespace trainwatch::testing::decoders_test {

using Lines = std::vector<std::string>;

TEST(SystemMetrics, Sample) {
  const Outcome out = decode("/w/1591160699.algo-1.json", kSystemMetrics);
  EXPECT_EQ(out.events,
            (Lines{"sample 1591160699457089400 4.760000 job/algo-1/-1/ cpu/cpu0/CPUUtilization "
                   "resource=1 device=0",
                   "sample 1591161699157089400 14.760000 job/algo-1/-1/1 "
                   "gpu/gpu1/GPUMemoryUtilization resource=4 device=1",
                   "sample 1591160699500000000 nan job/algo-2/-1/ memory/MemoryUsedPercent/ "
                   "resource=5 device=0",
                   "sample 1591160700000000000 15.000000 job/algo-1/-1/ cpu/cpu0/CPUUtilization "
                   "resource=1 device=0",
                   "sample 1591160701000000000 1.000000 job/algo-1/-1/ disk//Spät \"x\" "
                   "resource=0 device=0"}));
  EXPECT_EQ(out.rejects, (Lines{"type", "syntax"}));
  EXPECT_EQ(out.records, 5U);
}

TEST(SystemMetrics, ResourcesByTypeNameAndDimension) {
  EXPECT_EQ(resource_of("cpu", "cpu3", "CPUUtilization"), Resource::cpu_utilization);
  EXPECT_EQ(resource_of("cpu", "cpu3", "I/OWaitPercentage"), Resource::cpu_io_wait);
  EXPECT_EQ(resource_of("gpu", "gpu0", "GPUUtilization"), Resource::gpu_utilization);
  EXPECT_EQ(resource_of("gpu", "gpu0", "GPUMemoryUtilization"), Resource::gpu_memory_utilization);
  EXPECT_EQ(resource_of("memory", "MemoryUsedPercent", ""), Resource::memory_used);
  EXPECT_EQ(resource_of("i/o", "IOPS", ""), Resource::io_operations);
  EXPECT_EQ(resource_of("i/o", "ReadThroughputInBytesPerSecond", ""), Resource::io_read);
  EXPECT_EQ(resource_of("i/o", "WriteThroughputInBytesPerSecond", ""), Resource::io_write);
  EXPECT_EQ(resource_of("network", "ReceiveBytesPerSecond", "Algorithm"),
            Resource::network_receive);
  EXPECT_EQ(resource_of("network", "TransmitBytesPerSecond", "Platform"),
            Resource::network_transmit);
  EXPECT_EQ(resource_of("cpu", "cpu3", "Temperature"), Resource::other);
}

TEST(SystemMetrics, DevicesInTheFieldsWords) {
  EXPECT_EQ(device_of(Resource::cpu_utilization, "cpu3", "CPUUtilization"), "cpu3");
  EXPECT_EQ(device_of(Resource::memory_used, "MemoryUsedPercent", ""), "");
  EXPECT_EQ(device_of(Resource::io_read, "ReadThroughputInBytesPerSecond", "sda"), "sda");
  EXPECT_EQ(device_of(Resource::network_receive, "ReceiveBytesPerSecond", "Algorithm"), "external");
  EXPECT_EQ(device_of(Resource::network_transmit, "TransmitBytesPerSecond", "Platform"),
            "internal");
  EXPECT_EQ(device_of(Resource::network_receive, "ReceiveBytesPerSecond", "eth0"), "eth0");
}

// The same lines whether they come in the expected order (fast path) or not, in any layout.
TEST(SystemMetrics, OrderOfSeriesDoesNotMatter) {
  const auto line = [](int core, int value, bool spaced) {
    const std::string n = std::to_string(core);
    return spaced
               ? R"({ "Timestamp" : 1600000000.25 , "Value" : )" + std::to_string(value) +
                     R"( , "Type": "cpu", "Name": "cpu)" + n +
                     R"(", "Dimension": "CPUUtilization", "NodeId": "n" })" + "\n"
               : R"({"Type":"cpu","Name":"cpu)" + n + R"(","Dimension":"CPUUtilization","Value":)" +
                     std::to_string(value) + R"(,"NodeId":"n","Timestamp":1600000000.25})" + "\n";
  };
  std::string text;
  Lines expected;
  for (int i = 0; i < 400; ++i) {
    const int core = i < 100 ? i % 5 : (i * 7 + i / 13) % 5;
    text += line(core, i, i % 11 == 0);
    expected.push_back("sample 1600000000250000000 " + std::to_string(double{1} * i) +
                       " job/n/-1/ cpu/cpu" + std::to_string(core) +
                       "/CPUUtilization resource=1 device=" + std::to_string(core));
  }
  const Outcome out = decode("/w/x.algo-1.json", text);
  EXPECT_EQ(out.events, expected);
  EXPECT_EQ(out.rejects, Lines{});
}

TEST(SystemMetrics, FilesOfOneEngineShareTheSeries) {
  Interner interner;
  RecordingDiagnostics diagnostics;
  EventBatch out;
  for (const char* path : {"/w/1.algo-1.json", "/w/2.algo-1.json"}) {
    FileDecoder decoder{{FileId{}, LaneId{}, path, "", kNoRank, interner, diagnostics, {}},
                        format_catalog()};
    decoder.feed(kSystemMetrics, out);
  }
  EXPECT_EQ(interner.series.size(), 4U);
}

TEST(SystemMetrics, FullSeriesTableIsCounted) {
  Interner interner;
  interner.series = SeriesTable{2};
  RecordingDiagnostics diagnostics;
  EventBatch out;
  FileDecoder decoder{{FileId{}, LaneId{}, "/w/x", "", kNoRank, interner, diagnostics, {}},
                      format_catalog()};
  decoder.feed(kSystemMetrics, out);
  EXPECT_EQ(out.size(), 3U);
  EXPECT_EQ(diagnostics.reasons, (Lines{"cardinality", "cardinality", "type"}));
}

// Also where the line is expected, and until there is room.
TEST(SystemMetrics, EverySampleWithoutRoomIsCounted) {
  Interner interner;
  interner.series = SeriesTable{1};
  RecordingDiagnostics diagnostics;
  EventBatch out;
  FileDecoder decoder{{FileId{}, LaneId{}, "/w/x", "", kNoRank, interner, diagnostics, {}},
                      format_catalog()};
  std::string lines;
  for (int i = 0; i < 30; ++i) {
    for (const char* core : {"cpu0", "cpu1", "cpu2"}) {
      lines += std::string(R"({"Type":"cpu","Name":")") + core +
               R"(","Dimension":"CPUUtilization","Value":5,"NodeId":"n","Timestamp":)" +
               std::to_string(1600000000 + i) + "}\n";
    }
  }
  decoder.feed(lines, out);
  EXPECT_EQ(out.size(), 30U);
  EXPECT_EQ(diagnostics.reasons, Lines(60, "cardinality"));
  EXPECT_EQ(interner.series.dropped(), 60U);
  EXPECT_EQ(decoder.bytes().rejected, decoder.bytes().records * 2);
  interner.series.set_limit(2);
  decoder.feed(lines, out);
  EXPECT_EQ(out.size(), 90U);
  EXPECT_EQ(diagnostics.reasons, Lines(90, "cardinality"));
}

TEST(SystemMetrics, AWholeLastLineNeedsNoLineBreak) {
  const Outcome out = decode(
      "/w/x",
      R"({"Type":"cpu","Name":"cpu0","Dimension":"D","Value":1,"NodeId":"n","Timestamp":1})");
  EXPECT_EQ(out.records, 1U);
  EXPECT_EQ(out.rejects, Lines{});
}

TEST(Timeline, Sample) {
  const Outcome out = decode("/w/1795236016087300_0-algo-1_pythontimeline.json", kTimeline);
  ASSERT_EQ(out.events.size(), 6U);
  EXPECT_EQ(out.events[0],
            "span 1795236015987237000 +100000000 step=7 job/algo-1/0/ 'Step:ModeKeys.TRAIN' in "
            "'Step:ModeKeys.TRAIN' worker=-1 pid=19952 kind=1 mode=1 origin=0");
  EXPECT_EQ(out.events[1],
            "span 1795236015987280125 +50000000 step=8 job/algo-1/0/ 'net [conv {1}] \"a\\' in "
            "'Forward' worker=-1 pid=19952 kind=5 mode=0 origin=0");
  EXPECT_EQ(out.events[2].substr(0, 50), "span 1795236015981388000 +10000 step=-1 job/algo-1");
  EXPECT_EQ(out.events[3].substr(0, 50), "span 1795236015981378000 +35000 step=-1 job/algo-1");
  EXPECT_EQ(out.events[4],
            "span 1795236015981428000 +5000 step=-1 job/algo-1/0/ "
            "'_MultiProcessingDataLoaderIter::GetNext' in 'DataLoaderIter' worker=2 pid=-1 kind=2 "
            "mode=0 origin=0");
  EXPECT_EQ(out.rejects, Lines{"type"});  // the E too many
  EXPECT_EQ(out.records, 14U);
  EXPECT_TRUE(out.complete);
}

TEST(Timeline, CountersAreWhatTheTrainingLogs) {
  const Outcome out = decode("/w/2-algo-1_pythontimeline.json.tmp", kTimelineWithScalars);
  Lines scalars = out.events;
  std::erase_if(scalars, [](const std::string& event) { return !event.starts_with("scalar"); });
  EXPECT_EQ(
      scalars,
      (Lines{"scalar 1795236016087238000 timed train/loss=2.312500 step=7 of 1 job/algo-1/2/ "
             "kind=loss",
             "scalar 1795236016087239000 timed iteration-time=0.100000 step=7 of 2 "
             "job/algo-1/2/ kind=step_seconds",
             "scalar 1795236016187244500 timed train/loss=nan step=8 of 1 job/algo-1/2/ kind=loss",
             "scalar 1795236016187245000 timed Verlust ü \"{x}\"=-inf step=-1 of 1 "
             "job/algo-1/2/ kind=other",
             "scalar 1795236016187248000 timed val/loss=3.000000 step=8 of 1 job/algo-1/2/ "
             "kind=validation_loss"}));
  EXPECT_EQ(out.rejects, (Lines{"type", "time", "type"}));
}

TEST(Timeline, TagsOfScalarsAreBounded) {
  std::string text = "[\n";
  for (int tag = 0; tag < static_cast<int>(TaggedScalars::kMaxTags) + 44; ++tag) {
    text += R"({"name": "layer)" + std::to_string(tag) +
            R"(", "pid": 0, "ph": "C", "ts": 1, "args": {"step": 1, "value": 1}},)" + "\n";
  }
  const Outcome out = decode("/w/2-algo-1_pythontimeline.json.tmp", text);
  EXPECT_EQ(out.events.size(), TaggedScalars::kMaxTags);
  EXPECT_EQ(out.rejects, Lines{"cardinality"});
}

TEST(Timeline, DamageCostsOneRecordEach) {
  const Outcome out = decode("/w/0-algo-1_pythontimeline.json.tmp", kDamagedTimeline);
  EXPECT_EQ(out.records, 6U);
  EXPECT_EQ(out.rejects, (Lines{"syntax", "syntax", "syntax", "time", "type"}));
}

TEST(Timeline, OpenTmpFileThatIsClosedAndRenamed) {
  const std::string open =
      "[\n{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": "
      "{\"name\": \"Forward\"}},\n{\"ph\": \"X\", \"name\": \"m\", \"pid\": 1, "
      "\"ts\": 1, \"dur\": 2},\n";
  DecodeRun run{"/w/framework/4-algo-2_pythontimeline.json.tmp"};
  run.feed(open);
  EXPECT_EQ(run.events().size(), 1U);
  EXPECT_FALSE(run.decoder().complete());
  run.cut_back(2);
  run.feed("\n]");
  run.rename("/w/framework/pevents/2026112104/1795236016087300_4-algo-2_pythontimeline.json");
  const Outcome out = run.finish();
  EXPECT_TRUE(out.complete);
  EXPECT_EQ(out.rejects, Lines{});
  EXPECT_NE(out.events[0].find("job/algo-2/4/"), std::string::npos);
}

TEST(Timeline, ConfiguredRankWins) {
  DecodeRun run{"/w/0-algo-1_pythontimeline.json", 42};
  run.feed(kTimeline);
  EXPECT_NE(run.finish().events[0].find("job/algo-1/42/"), std::string::npos);
}

TEST(Timeline, PhaseNamedAgainAndPhaseNeverNamed) {
  const Outcome out = decode("/w/a_model_timeline.json", R"([
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "NcclManager"}},
{"ph": "X", "name": "kAllReduce", "ts": 1, "pid": 1, "dur": 1},
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "DataIterator"}},
{"ph": "X", "name": "dataset::GetNext", "ts": 2, "pid": 1, "dur": 1},
{"ph": "X", "name": "other", "ts": 3, "pid": 9, "dur": 1},
{"ph": "X", "name": "backwards", "ts": 3, "pid": 9, "dur": -1},
{"ph": "E", "pid": 7, "ts": 3}])");
  ASSERT_EQ(out.events.size(), 3U);
  EXPECT_NE(out.events[0].find("in 'NcclManager'"), std::string::npos);
  EXPECT_NE(out.events[0].find("kind=10"), std::string::npos);
  EXPECT_NE(out.events[1].find("in 'DataIterator'"), std::string::npos);
  EXPECT_NE(out.events[1].find("kind=2"), std::string::npos);
  EXPECT_NE(out.events[2].find("in 'Unknown'"), std::string::npos);
  EXPECT_EQ(out.rejects, Lines{"time"});
}

TEST(Timeline, ThreadsAndLayersWhereTheyAreNamed) {
  const Outcome out = decode("/w/a_model_timeline.json", R"([
{"ph": "X", "name": "a", "ts": 1, "pid": 1, "dur": 1, "tid": 140213, "args": {"tid": 2}},
{"ph": "X", "name": "b", "ts": 1, "pid": 1, "dur": 1, "args": {"thread_id": "7", "tid": 2}},
{"ph": "X", "name": "c", "ts": 1, "pid": 1, "dur": 1, "args": {"tid": 2, "name": "conv"}},
{"ph": "X", "name": "d", "ts": 1, "pid": 1, "dur": 1, "args": {"name": "x", "layer_name": "fc"}},
{"ph": "X", "name": "e", "ts": 1, "pid": 1, "dur": 1, "tid": "main", "args": {"name": 5}}])");
  ASSERT_EQ(out.events.size(), 5U);
  const char* const ends[] = {"origin=0 thread=140213", "origin=0 thread=7",
                              "origin=0 thread=2 layer=conv", "origin=0 layer=fc", "origin=0"};
  for (std::size_t i = 0; i < std::size(ends); ++i) {
    EXPECT_TRUE(out.events[i].ends_with(ends[i])) << out.events[i];
  }
}

TEST(SpanKinds, Catalogue) {
  const auto kind = [](const char* phase, const char* name) {
    return classify_span(phase, name).kind;
  };
  EXPECT_EQ(kind("Step:ModeKeys.EVAL", "Step:ModeKeys.EVAL"), SpanKind::step);
  EXPECT_EQ(classify_span("Step:ModeKeys.EVAL", "Step:ModeKeys.EVAL").mode, Mode::eval);
  EXPECT_EQ(classify_span("", "Step:ModeKeys.PREDICT").mode, Mode::predict);
  EXPECT_EQ(classify_span("", "Step:ModeKeys.GLOBAL").mode, Mode::global);
  EXPECT_EQ(kind("DataLoaderIter", "DataLoaderIter::GetNext"), SpanKind::data_wait);
  EXPECT_EQ(kind("DataLoaderIter", "_SingleProcessDataLoaderIter::GetNext"), SpanKind::data_wait);
  EXPECT_EQ(kind("DataIterator", "IteratorGetNextOp::DoCompute"), SpanKind::data_wait);
  EXPECT_EQ(kind("/host:CPU", "Iterator::Prefetch::GetNext"), SpanKind::data_wait);
  EXPECT_EQ(kind("DataLoaderWorker", "worker_loop"), SpanKind::data_worker);
  EXPECT_EQ(kind("DataLoaderIterInitialize", "_MultiProcessingDataLoaderIter.__init__"),
            SpanKind::data_init);
  EXPECT_EQ(kind("Forward", "resnet"), SpanKind::forward);
  EXPECT_EQ(kind("Forward-SubModuleInternal", "conv"), SpanKind::other);
  EXPECT_EQ(kind("Backward(post-forward)", "resnet"), SpanKind::backward);
  EXPECT_EQ(kind("Backward", "Backward"), SpanKind::backward);
  EXPECT_EQ(kind("Optimizer", "Optimizer"), SpanKind::optimizer);
  EXPECT_EQ(kind("Checkpoint", "save"), SpanKind::checkpoint);
  EXPECT_EQ(kind("NcclManager", "kAllReduce"), SpanKind::communication);
  EXPECT_EQ(kind("Adam/HorovodAllreduce_1", "4"), SpanKind::communication);
  EXPECT_EQ(kind("cpu_functions", "aten::add"), SpanKind::cpu_op);
  EXPECT_EQ(kind("gpu_functions-dev:0", "gemm"), SpanKind::kernel);
  EXPECT_EQ(kind("Unknown", "event1"), SpanKind::other);
}

TEST(ChromeTrace, Sample) {
  const Outcome out = decode("/w/vm_10.1787426466048337924.pt.trace.json", kKineto);
  EXPECT_EQ(out.events,
            (Lines{"span 1787426464416790000 +9000 step=-1 job/node-b/5/ "
                   "'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__' in "
                   "'user_annotation' worker=-1 pid=9 kind=2 mode=1 origin=1",
                   "span 1787426464416800001 +1000250 step=12 job/node-b/5/ 'ProfilerStep#12' in "
                   "'user_annotation' worker=-1 pid=9 kind=1 mode=1 origin=1",
                   "note 0 lane=3 at 1787426464417800251"}));
  EXPECT_EQ(out.rejects, Lines{});
  EXPECT_EQ(out.records, 6U);
}

TEST(ChromeTrace, SaysNothingBeforeTheDocumentIsComplete) {
  DecodeRun run{"/w/rank3.json.tmp"};
  run.feed(std::string_view{kKineto}.substr(0, kKineto.size() - 1));
  EXPECT_EQ(run.events().size(), 0U);
  run.feed("}");
  run.settle();
  EXPECT_EQ(run.events().size(), 3U);
  EXPECT_TRUE(run.decoder().complete());
  EXPECT_EQ(run.finish().events.size(), 3U);
  EXPECT_EQ(run.finish().events.size(), 3U);
}

TEST(ChromeTrace, TruncatedFileSaysAtItsEndWhatItKnows) {
  const std::string half = kKineto.substr(0, kKineto.find("\"distributedInfo\""));
  const Outcome out = decode("/w/rank3_x.json", half);
  ASSERT_EQ(out.events.size(), 3U);
  EXPECT_NE(out.events[1].find("job//3/"), std::string::npos);
  EXPECT_FALSE(out.complete);
}

TEST(ChromeTrace, TimesWithoutABaseEndWithTheFile) {
  const Outcome out = decode("/w/vm_8959.1795235697709.pt.trace.json", kDebianTorch);
  ASSERT_EQ(out.events.size(), 3U);
  EXPECT_EQ(out.events[0].substr(0, 43), "span 1795235697579770000 +33000 step=1 job/")
      << "the wait ends first, and lies in step 1";
  EXPECT_EQ(out.events[1].substr(0, 47), "span 1795235697579767000 +129193000 step=1 job/");
  EXPECT_EQ(out.events[2], "note 0 lane=3 at 1795235697709000000");
  EXPECT_EQ(decode("/w/x.json", kDebianTorch).events[2], "note 0 lane=3 at 129400000");
}

TEST(ChromeTrace, BadStepsCostOneRecordEach) {
  const Outcome out = decode("/w/x.json", R"({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "ts": "soon", "dur": 1},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "ts": 1},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep # 3", "ts": 1e3, "dur": -4},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStepping", "ts": 1, "dur": 2},
  {"ph": "X", "cat": "user_annotation", "name": "Profiler"Step#4", "ts": 1, "dur": 2},
  {"ph": "X", "ts": 1, "dur" 2},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#5", "ts": 2e3, "dur": 1.5}
  ]})");
  ASSERT_EQ(out.events.size(), 3U);
  EXPECT_NE(out.events[0].find("+0 step=3"), std::string::npos);
  EXPECT_NE(out.events[1].find("+1500 step=5"), std::string::npos);
  EXPECT_EQ(out.rejects, (Lines{"time", "time", "syntax", "syntax"}));
}

TEST(Tensorflow, StartTimeFromTheMetadataFile) {
  const std::string path = "/w/p/plugins/profile/d/host.local.trace.json.gz";
  const auto found = [](const std::string& directory) -> std::vector<std::string> {
    EXPECT_EQ(directory, "/w/p");
    return {"other", "1-host_1596659864545103_1596659864854168.metadata"};
  };
  DecodeRun run{path, kNoRank, found};
  run.feed(gzip(kTensorflow));
  const Outcome out = run.finish();
  ASSERT_EQ(out.events.size(), 3U);
  EXPECT_EQ(out.events[0],
            "span 1596659864545219457 +63929222 step=-1 job/host/-1/ 'train_function' in "
            "'/host:CPU' worker=-1 pid=-1 kind=0 mode=0 origin=1 thread=1");
  EXPECT_NE(out.events[1].find("kind=2"), std::string::npos);
  EXPECT_TRUE(out.complete);
}

TEST(Tensorflow, MetadataFileThatComesLate) {
  bool there = false;
  DecodeRun run{"/w/p/plugins/profile/d/h.trace.json", kNoRank, [&](const std::string&) {
                  return there ? std::vector<std::string>{"n_1000_2000.metadata"}
                               : std::vector<std::string>{};
                }};
  const std::string_view text = kTensorflow;
  run.feed(text.substr(0, text.size() - 5));
  EXPECT_EQ(run.events().size(), 0U);
  there = true;
  run.feed(text.substr(text.size() - 5));
  run.settle();
  ASSERT_EQ(run.events().size(), 3U);
  EXPECT_EQ(run.events()[0].substr(0, 21), "span 1116457 +6392922");
}

TEST(Files, WithNothingInThem) {
  for (const char* content : {"", "[", "[\n]", "\n"}) {
    const Outcome out = decode("/w/0-algo-1_pythontimeline.json", content);
    EXPECT_EQ(out.rejects, Lines{}) << content;
    EXPECT_EQ(out.events, Lines{});
  }
  EXPECT_EQ(decode("/w/training_job_end.ts", "\x1f").format, "empty");
}

}  // namespace trainwatch::testing::decoders_test
