// SPDX-License-Identifier: Apache-2.0
// A file that grows after it seemed finished goes on as if it had never stopped: with the base of
// its times, its phases, its open spans and the record that it broke off in.
#include "late_growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "pipeline/engine/aged_names.h"

namespace trainwatch::late_growth_test {

using namespace late_growth;

std::string whole(const Job& job) {
  test::ModelFileSystem files;
  files.create(job.first, job.first_content);
  files.create(job.second, job.second_content);
  return Reader(files).seen();
}

enum class Pause { lane, silence };

// The first file is finished at `cut`, and then grows, before or after a restart.
std::string seen_with(const Job& job, std::size_t cut, Pause pause, bool restart,
                      std::uint64_t* rejects = nullptr) {
  test::ModelFileSystem files;
  files.create(job.first, job.first_content.substr(0, cut));
  Reader run(files);
  run.look(2);
  if (pause == Pause::silence) run.fall_silent();
  if (pause == Pause::lane) {
    files.create(job.second, job.second_content);
    run.look(2);
  }
  for (const auto& [id, file] : run.ingest.files()) {
    const bool closed = file.known.path == job.second && pause == Pause::lane;
    EXPECT_EQ(file.decoder != nullptr, closed) << file.known.path;
  }
  const auto go_on = [&](Reader& now) {
    files.append(job.first, job.first_content.substr(cut));
    now.look(2);
    if (pause == Pause::silence) files.create(job.second, job.second_content);
    const std::string seen = now.seen();
    if (rejects != nullptr) *rejects = now.rejects();
    return seen;
  };
  if (!restart) return go_on(run);
  Reader after(files, run.rows());
  return go_on(after);
}

void expect_the_same_at_every_cut(const Job& job) {
  const std::string expected = whole(job);
  for (const Pause pause : {Pause::lane, Pause::silence}) {
    for (const bool restart : {false, true}) {
      for (std::size_t cut = 1; cut < job.first_content.size(); ++cut) {
        ASSERT_EQ(seen_with(job, cut, pause, restart), expected)
            << "cut at " << cut << (pause == Pause::lane ? ", lane" : ", silence")
            << (restart ? ", restart" : "");
      }
    }
  }
}

TEST(LateGrowth, OfATimeline) {
  expect_the_same_at_every_cut(kTimelines);
}
TEST(LateGrowth, OfACompressedTimeline) {
  expect_the_same_at_every_cut(compressed(kTimelines));
}
TEST(LateGrowth, OfSystemMetrics) {
  expect_the_same_at_every_cut(kMetrics);
}
TEST(LateGrowth, OfAProfilersTrace) {
  expect_the_same_at_every_cut(kKineto);
}
TEST(LateGrowth, OfATraceOfTensorflow) {
  expect_the_same_at_every_cut(kTensorflows);
}
TEST(LateGrowth, OfACompressedTraceOfTensorflow) {
  expect_the_same_at_every_cut(compressed(kTensorflows));
}

// Both files grow in pieces, are finished now and then, and so is the process.
TEST(LateGrowth, InRandomPieces) {
  const std::vector<Job> jobs = {kTimelines, compressed(kTimelines), kMetrics, kTensorflows,
                                 compressed(kTensorflows)};
  for (const Job& job : jobs) {
    const std::string expected = whole(job);
    for (unsigned seed = 1; seed <= 100; ++seed) {
      std::minstd_rand random(seed);
      test::ModelFileSystem files;
      std::string_view rest[] = {job.first_content, job.second_content};
      files.create(job.first);
      files.create(job.second);
      auto run = std::make_unique<Reader>(files);
      while (!rest[0].empty() || !rest[1].empty()) {
        const std::size_t file = random() % 2;
        const std::size_t size = std::min<std::size_t>(rest[file].size(), 1 + random() % 120);
        files.append(file == 0 ? job.first : job.second, rest[file].substr(0, size));
        rest[file].remove_prefix(size);
        if (random() % 2 == 0) run->look(2);
        if (random() % 4 == 0) run->fall_silent();
        if (random() % 4 == 0) run = std::make_unique<Reader>(files, run->rows());
      }
      ASSERT_EQ(run->seen(), expected) << job.first << " seed " << seed;
    }
  }
}

// The compressed copy of a file that was finished before it was complete.
TEST(LateGrowth, InTheCompressedCopy) {
  for (const Job& job : {kTimelines, kMetrics, kTensorflows}) {
    const std::string expected = whole(job);
    for (std::size_t cut = 200; cut < job.first_content.size(); ++cut) {
      test::ModelFileSystem files;
      files.create(job.first, job.first_content.substr(0, cut));
      Reader run(files);
      run.look(2);
      run.fall_silent();
      files.create(job.first + ".gz", gzip(job.first_content));
      files.unlink(job.first);
      run.look(3);
      files.create(job.second, job.second_content);
      ASSERT_EQ(run.seen(), expected) << job.first << " at " << cut;
    }
  }
}

// A restart loses what was read of the second part of a cycle, and repeats nothing of the first.
TEST(LateGrowth, ARestartInTheSecondPartOfACycle) {
  const std::string& content = kKineto.first_content;
  for (std::size_t cut = 150; cut + 150 < content.size(); cut += 7) {
    test::ModelFileSystem files;
    files.create(kKineto.first, content.substr(0, cut));
    Reader before(files);
    before.look(2);
    before.fall_silent();
    files.append(kKineto.first, content.substr(cut, 100));
    before.look(2);
    Reader after(files, before.rows());
    files.append(kKineto.first, content.substr(cut + 100));
    const std::string seen = after.seen();
    EXPECT_EQ(seen.substr(0, 10), "7 records:") << cut;
    for (int step = 1; step <= 3; ++step) {
      const std::string name = "ProfilerStep#" + std::to_string(step);
      const std::string gemm = "gemm 178296778800" + std::to_string(step) + "005000";
      EXPECT_NE(seen.find(name), std::string::npos) << cut << seen;
      EXPECT_EQ(seen.find(name), seen.rfind(name)) << cut << seen;
      EXPECT_EQ(seen.find(gemm), seen.rfind(gemm)) << cut << seen;
    }
  }
}

// What cannot be dated is not read, and counted; lines are complete in themselves.
TEST(LateGrowth, WithoutRoomForWhatWasKnown) {
  for (const Job& job : {kTimelines, kKineto, kMetrics}) {
    const std::size_t cut = job.first_content.find('\n', job.first_content.size() / 2) + 1;
    test::ModelFileSystem files;
    files.create(job.first, job.first_content.substr(0, cut));
    Reader run(files, {}, {.of_file = 100, .all = 1000});
    run.look(2);
    run.fall_silent();
    files.append(job.first, job.first_content.substr(cut));
    run.look(2);
    files.create(job.second, job.second_content);
    const std::string seen = run.seen();
    const bool lines = job.first == kMetrics.first;
    EXPECT_EQ(run.rejects(), lines ? 0U : 1U) << seen;
    EXPECT_EQ(run.ingest.sources().at("r").skipped, lines ? 0U : job.first_content.size() - cut);
    if (lines) {
      EXPECT_EQ(seen, whole(job));
    } else {
      EXPECT_EQ(seen.find("; 1000"), std::string::npos) << "an event of 1970: " << seen;
      EXPECT_EQ(seen.find("\"1000"), std::string::npos) << "an event of 1970: " << seen;
    }
  }
}

// What was silent is forgotten, and names get other numbers.
TEST(LateGrowth, AfterItsNamesHaveAged) {
  test::ModelFileSystem files;
  files.create("/r/other.json",
               R"([{"name": "old", "ph": "X", "ts": 1795236000000000, "dur": 5},)"
               R"({"name": "older", "ph": "X", "ts": 1795236000000009, "dur": 5}])");
  Reader before(files);
  before.look(2);
  files.unlink("/r/other.json");
  const std::string& content = kTimelines.first_content;
  files.create(kTimelines.first, content.substr(0, content.size() / 2));
  before.look(2);
  before.fall_silent();
  const StoredRows rows = before.rows();
  const LastSeen seen = before.engine.last_seen();
  Reader after(files);
  after.engine.interner() = before.engine.interner().emptied();
  AgedNames names(std::move(before.engine.interner()), seen, after.engine.interner());
  const SavedState kept{rows, &names};
  ASSERT_TRUE(after.engine.load_aged(kept));
  ASSERT_TRUE(after.ingest.load_aged(kept, before.ingest));
  Tailer tailer(files, after.roots, {}, after.ingest.checkpoint());
  files.append(kTimelines.first, content.substr(content.size() / 2));
  tailer.scan(after.ingest, after.now += std::chrono::seconds(1));
  while (tailer.read(after.ingest)) {
  }
  after.ingest.end_of_input();
  const auto result = after.engine.analyses().result("probe", "job");
  ASSERT_TRUE(result);
  EXPECT_THAT(result->json(), testing::HasSubstr("1795236000000400000 +50000 e4 in Forward of"));
  const SymbolTable& symbols = after.engine.interner().symbols;
  for (std::size_t i = 0; i < symbols.size(); ++i)
    EXPECT_NE(symbols.text(static_cast<Symbol>(i)), "older") << "the numbers have not changed";
}

// A part of a file that is read for a span of time begins between two records.
TEST(LateGrowth, TheTimesOfAFileThatBrokeOffInARecord) {
  std::string content = timeline(0, 5000);
  const std::size_t begun = content.find(R"({"ph": "B")");
  content.erase(begun, content.find('\n', begun) + 1 - begun);
  const std::size_t cut = content.find("\"step_num\": 2000") + 4;
  test::ModelFileSystem files;
  files.create(kTimelines.first, content.substr(0, cut));
  Reader run(files);
  run.look(2);
  run.fall_silent();
  files.append(kTimelines.first, content.substr(cut));
  run.look(2);
  const std::int64_t base_ns = 1'795'236'000'000'000'000;
  EXPECT_TRUE(run.ingest.windows(0, base_ns - 1).empty());
  const auto windows = run.ingest.windows(base_ns + 450'000'000, base_ns + 460'000'000);
  ASSERT_EQ(windows.size(), 1U);
  ASSERT_FALSE(windows[0].events.empty());
  for (const ByteRange& range : windows[0].events) {
    EXPECT_GT(range.begin, 0U);
    EXPECT_EQ(content[content.find_first_not_of(",\n", range.begin)], '{') << range.begin;
  }
}

}  // namespace trainwatch::late_growth_test
