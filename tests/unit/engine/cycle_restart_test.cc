// SPDX-License-Identifier: Apache-2.0
// The cycles of profilers on their way from files to analyses, and over restarts: each is emitted
// once and whole, and the counters are those of a run without a restart.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pipeline/analysis/catalog.h"
#include "support/cycle_log.h"
#include "support/gzip.h"
#include "support/ingest_run.h"

namespace trainwatch::cycle_restart_test {

using test::gzip;

// Keeps all cycles that it gets.
class Probe final : public Analysis {
 public:
  explicit Probe(const Interner& interner) : interner_(interner) {}
  void on_cycle(const CycleTrace& cycle) override {
    const Subject& who = interner_.subjects[cycle.subject];
    seen_ += who.job + "/" + std::to_string(who.rank) + " " + test::describe(cycle) + "\n";
  }
  void state(StateIo& io) override { io(seen_); }
  Figures figures() const override {
    Figures out;
    out.add("cycles", seen_);
    return out;
  }

 private:
  const Interner& interner_;
  std::string seen_;
};
const AnalysisSpec kProbe = make_spec<Probe>({.name = "probe", .summary = "A test"});

struct Reader : test::IngestRun {
  explicit Reader(test::ModelFileSystem& files, const StoredRows& rows = {})
      : IngestRun(files, rows, {&kProbe, find_analysis("profiler_steps")},
                  {{{"/r", "r", "job"}}, {}, {}}, TailLimits{.chunk_bytes = 150}) {}

  // All that a user sees.
  std::string outcome() {
    look(3);
    ingest.end_of_input();
    const Ingest::Source& source = ingest.sources().at("r");
    std::string text = std::to_string(source.records) + " records, " +
                       std::to_string(source.bytes) + " bytes, rejects";
    for (const std::uint64_t count : source.rejects) text += " " + std::to_string(count);
    for (const auto& [id, file] : ingest.files()) {
      text += "\n" + file.known.path + " " + std::to_string(file.records) + " " +
              std::to_string(file.bytes) + " " + std::to_string(file.rejects);
    }
    for (const char* name : {"probe", "profiler_steps"}) {
      const auto result = engine.analyses().result(name, "job");
      text += "\n" + (result ? result->json() : "");
    }
    return text;
  }
};

std::string event(const std::string& category, const std::string& name, int ts,
                  const std::string& args) {
  return R"(  {"ph": "X", "cat": ")" + category + R"(", "name": ")" + name +
         R"(", "pid": 1, "tid": 7, "ts": )" + std::to_string(ts) + R"(, "dur": 10, "args": {)" +
         args + "}},\n";
}

// A cycle of one step, with a launch, an event that is broken and one that nobody reads.
std::string document(int step, int rank = 1) {
  const int at = step * 1000;
  return "{\"schemaVersion\": 1, \"traceEvents\": [\n" +
         event("user_annotation", "ProfilerStep#" + std::to_string(step), at, "") +
         event("kernel", "gemm", at + 2, R"("stream": 7, "correlation": )" + std::to_string(at)) +
         event("cpu_op", "aten::add", at + 1, "") +
         event("cuda_runtime", "cudaLaunchKernel", at + 1,
               R"("correlation": )" + std::to_string(at)) +
         "  {\"ph\": \"X\", \"cat\": \"kernel\", \"name\" 7},\n" +
         event("kernel", "relu", at + 4, R"("stream": 7, "correlation": 1)") +
         "  {\"ph\": \"M\"}\n],\n\"distributedInfo\": {\"rank\": " + std::to_string(rank) +
         "}, \"baseTimeNanoseconds\": 1782967788000000000}";
}

const std::string kFirst = "/r/host_1.1795235697709.pt.trace.json";
const std::string kSecond = "/r/host_1.1795235797709.pt.trace.json";

TEST(CycleRestart, CyclesAreNumberedAndNeverMix) {
  test::ModelFileSystem files;
  files.create(kFirst, document(1));
  files.create(kSecond, document(2));
  files.create("/r/host_2.1795235697709.pt.trace.json", document(1, 2));
  Reader run(files);
  const std::string outcome = run.outcome();
  for (const char* cycle : {"job/1 0 0", "job/1 1 0", "job/2 0 0"}) {
    EXPECT_NE(outcome.find(cycle), std::string::npos) << outcome;
  }
  EXPECT_NE(outcome.find(
                R"("rows":[[1,0,1,1782967788001000000,10000,0,8000,0,0,0,0,0,0,0,2000,0,"host"],)"
                R"([1,1,2,1782967788002000000,10000,0,8000,0,0,0,0,0,0,0,2000,0,"host"],)"
                R"([2,0,1,1782967788001000000,10000,0,8000,0,0,0,0,0,0,0,2000,0,"host"]])"),
            std::string::npos)
      << outcome;
  EXPECT_NE(outcome.find("18 records"), std::string::npos) << outcome;
}

TEST(CycleRestart, ConfiguredRankAndJobCountMore) {
  test::ModelFileSystem files;
  files.create(kFirst, document(1));
  Engine engine({}, {&kProbe});
  Ingest ingest(engine, {{{"/r", "r", "other", 5}}, {}, {}});
  Tailer tailer(files, {{"/r", "r"}}, {});
  tailer.scan(ingest, {});
  while (tailer.read(ingest)) {
  }
  const auto result = engine.analyses().result("probe", "other");
  ASSERT_TRUE(result);
  const std::string json = result->json();
  EXPECT_NE(json.find("other/5 0 0"), std::string::npos) << json;
}

void expect_same_at_every_cut(const std::string& ending, const std::string& content,
                              const std::string& final_ending) {
  SCOPED_TRACE(ending);
  test::ModelFileSystem files;
  files.create(kFirst, document(1));
  files.create(kSecond + final_ending, content);
  const std::string expected = Reader(files).outcome();
  for (std::size_t cut = 0; cut <= content.size(); ++cut) {
    test::ModelFileSystem cut_files;
    cut_files.create(kFirst, document(1));
    cut_files.create(kSecond + ending, content.substr(0, cut));
    Reader before(cut_files);
    before.look(2);
    cut_files.append(kSecond + ending, content.substr(cut));
    if (ending != final_ending) cut_files.rename(kSecond + ending, kSecond + final_ending);
    Reader after(cut_files, before.rows());
    ASSERT_TRUE(after.loaded);
    ASSERT_EQ(after.outcome(), expected) << cut;
  }
}

TEST(CycleRestart, EveryCutGivesTheSame) {
  expect_same_at_every_cut("", document(2), "");
}

TEST(CycleRestart, EveryCutOfACompressedFileGivesTheSame) {
  expect_same_at_every_cut(".gz", gzip(document(2)), ".gz");
}

TEST(CycleRestart, EveryCutOfAFileThatIsRenamedWhileNobodyLooksGivesTheSame) {
  expect_same_at_every_cut(".tmp", document(2), "");
}

TEST(CycleRestart, ManyRestartsInOneDocument) {
  test::ModelFileSystem whole;
  whole.create(kFirst, document(1));
  const std::string expected = Reader(whole).outcome();
  test::ModelFileSystem files;
  files.create(kFirst);
  StoredRows rows;
  const std::string content = document(1);
  for (std::size_t at = 0; at < content.size(); at += 61) {
    files.append(kFirst, std::string_view(content).substr(at, 61));
    Reader run(files, rows);
    ASSERT_TRUE(run.loaded);
    run.look();
    rows = run.rows();
  }
  EXPECT_EQ(Reader(files, rows).outcome(), expected);
}

// The half that was read is in no state: whoever starts to take cycles gets whole ones.
TEST(CycleRestart, AnAnalysisIsSwitchedOnInTheMiddle) {
  test::ModelFileSystem files;
  files.create(kFirst, document(1));
  const std::string expected = Reader(files).outcome();
  test::ModelFileSystem cut_files;
  cut_files.create(kFirst, document(1).substr(0, 400));
  StoredRows rows;
  {
    Engine engine({}, {});
    Ingest ingest(engine, {{{"/r", "r", "job"}}, {}, {}});
    Tailer tailer(cut_files, {{"/r", "r"}}, {});
    tailer.scan(ingest, {});
    while (tailer.read(ingest)) {
    }
    StateRows changes;
    engine.save(changes, true);
    ingest.save(changes, true);
    test::store(changes, rows);
  }
  cut_files.append(kFirst, document(1).substr(400));
  EXPECT_EQ(Reader(cut_files, rows).outcome(), expected);
}

// A document that its writer left, and that was compressed, is emitted once.
TEST(CycleRestart, ADocumentGoesOnInItsCompressedCopy) {
  test::ModelFileSystem files;
  files.create(kFirst, document(1).substr(0, 500));
  Reader run(files);
  run.look();
  files.create(kFirst + ".gz", gzip(document(1)));
  files.unlink(kFirst);
  const std::string outcome = run.outcome();
  EXPECT_NE(outcome.find("job/1 0 0"), std::string::npos) << outcome;
  EXPECT_NE(outcome.find("gemm"), std::string::npos) << outcome;
  EXPECT_NE(outcome.find("relu"), std::string::npos) << outcome;
  EXPECT_EQ(outcome.find("job/1 1 0"), std::string::npos) << outcome;
  EXPECT_NE(outcome.find("6 records"), std::string::npos) << outcome;
}

// Nothing is emitted twice, whenever the compressed copy is cut off, and a cycle whole or not at
// all.
TEST(CycleRestart, ARestartWhileTheCompressedCopyIsRead) {
  const std::string packed = gzip(document(1));
  for (std::size_t cut = 1; cut <= packed.size(); ++cut) {
    test::ModelFileSystem files;
    files.create(kFirst, document(1).substr(0, 500));
    Reader before(files);
    before.look();
    files.create(kFirst + ".gz", packed.substr(0, cut));
    files.unlink(kFirst);
    before.look();
    files.append(kFirst + ".gz", packed.substr(cut));
    Reader after(files, before.rows());
    const std::string outcome = after.outcome();
    EXPECT_EQ(outcome.find("job/1 1 0"), std::string::npos) << cut << outcome;
    const bool emitted = outcome.find("job/1 0 0") != std::string::npos;
    if (!emitted) continue;
    EXPECT_EQ(outcome.substr(0, 9), "6 records") << cut << outcome;
    EXPECT_NE(outcome.find("gemm"), std::string::npos) << cut << outcome;
    EXPECT_NE(outcome.find("relu"), std::string::npos) << cut << outcome;
  }
}

}  // namespace trainwatch::cycle_restart_test
