// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/window_reader.h"

#include <gtest/gtest.h>

#include "pipeline/timeline/span_totals.h"
#include "support/model_file_system.h"

namespace trainwatch::window_reader_test {

constexpr std::int64_t kMicro = 1000;

const std::string kHead =
    "[\n"
    R"({"name": "process_name", "ph": "M", "pid": 3, "args": {"name": "Forward"}},)"
    "\n";

std::string span(int number, int at_us) {
  return R"({"name": "s)" + std::to_string(number) + R"(", "ph": "X", "pid": 3, "ts": )" +
         std::to_string(at_us) + R"(, "dur": 4, "args": {"n": 1}},)" + "\n";
}

class WindowReaderTest : public testing::Test, protected TimelineSink {
 protected:
  void event(const TimelineEvent& event) override {
    const TrackTable::Track& track = tracks_[event.track];
    seen_.push_back(tracks_[track.process].name + " " + track.writer + " " +
                    std::string(event.name));
  }
  FileWindow window(const std::string& path, const std::string& format = "timeline") {
    FileWindow file;
    file.path = path;
    file.identity = files_.stat(path)->identity;
    file.format = format;
    return file;
  }
  WindowReader::Losses read(const std::vector<FileWindow>& windows, TimeWindow time = {},
                            std::uint64_t most_bytes = 1U << 20U) {
    WindowReader reader(files_, tracks_, *this, time, most_bytes);
    reader.read(windows);
    return reader.losses();
  }

  test::ModelFileSystem files_;
  TrackTable tracks_;
  std::vector<std::string> seen_;
};

TEST_F(WindowReaderTest, NamesComeFromTheBeginningAndEventsFromTheMiddle) {
  const std::string before = span(1, 10) + span(2, 20);
  const std::string wanted = span(3, 30) + span(4, 40);
  files_.create("/r/1594662624718694_0-algo-1_pythontimeline.json",
                kHead + before + wanted + span(5, 50));
  FileWindow file = window("/r/1594662624718694_0-algo-1_pythontimeline.json");
  const std::uint64_t begin = kHead.size() + before.size();
  file.definitions = {{0, kHead.size()}};
  file.events = {{begin, begin + wanted.size()}};
  const auto losses = read({file}, {30 * kMicro, 40 * kMicro});
  EXPECT_EQ(seen_,
            (std::vector<std::string>{R"(Forward algo-1-0 "s3")", R"(Forward algo-1-0 "s4")"}));
  EXPECT_EQ(losses.records, 0) << "what was left out between them is no damage";
}

TEST_F(WindowReaderTest, AnyCutBetweenRecordsIsNoDamage) {
  const std::string text = kHead + span(1, 10) + span(2, 20) + span(3, 30);
  files_.create("/r/a_pythontimeline.json", text);
  const std::size_t first = kHead.size() + span(1, 10).size();
  for (const std::size_t back : {0U, 1U, 2U}) {  // behind the line, the comma, the record
    for (const std::size_t begin : {0U, 1U, 2U}) {
      seen_.clear();
      FileWindow file = window("/r/a_pythontimeline.json");
      file.definitions = {{0, kHead.size() - back}};
      file.events = {{first - begin, text.size()}};
      const auto losses = read({file});
      EXPECT_EQ(seen_.size(), 2) << back << ' ' << begin;
      EXPECT_EQ(losses.records, 0) << back << ' ' << begin;
    }
  }
}

TEST_F(WindowReaderTest, AnotherFileOfThatNameIsNotMeant) {
  files_.create("/r/a_pythontimeline.json", kHead + span(1, 10));
  FileWindow file = window("/r/a_pythontimeline.json");
  file.whole = true;
  FileWindow gone = file;
  gone.path = "/r/gone_pythontimeline.json";
  files_.create("/r/a_pythontimeline.json", kHead + span(2, 10));
  EXPECT_EQ(read({file, gone}).files_gone, 2);
  EXPECT_TRUE(seen_.empty());
}

TEST_F(WindowReaderTest, TheBytesThatAreReadAreBounded) {
  std::vector<FileWindow> all;
  for (const char* path : {"/r/1_pythontimeline.json", "/r/2_pythontimeline.json"}) {
    files_.create(path, kHead + span(1, 10));
    all.push_back(window(path));
    all.back().whole = true;
  }
  const std::uint64_t size = files_.stat(all.front().path)->size;
  EXPECT_EQ(read(all, {}, size).files_too_far, 1);
  EXPECT_EQ(seen_.size(), 1);
}

TEST_F(WindowReaderTest, SeveralJobsAreKeptApartByName) {
  files_.create("/r/a/1594662624718694_0-algo-1_pythontimeline.json", kHead + span(1, 10));
  files_.create("/r/b/1594662624718694_0-algo-1_pythontimeline.json", kHead + span(1, 10));
  std::vector<FileWindow> all = {window("/r/a/1594662624718694_0-algo-1_pythontimeline.json"),
                                 window("/r/b/1594662624718694_0-algo-1_pythontimeline.json")};
  for (FileWindow& file : all) file.whole = true;
  all[0].job = "a";
  all[1].job = "b";
  read(all);
  EXPECT_EQ(seen_,
            (std::vector<std::string>{R"(Forward a/algo-1-0 "s1")", R"(Forward b/algo-1-0 "s1")"}));
}

TEST(SpanTotals, TimesAreThoseInsideTheSpan) {
  TrackTable tracks;
  const TrackId track = tracks.thread(tracks.phase("Forward"), "", "0");
  SpanTotals totals(tracks, {100 * kMicro, 200 * kMicro});
  totals.begin(7);
  const auto add = [&](const char* name, std::int64_t from, std::int64_t to) {
    TimelineEvent event;
    event.start_ns = from * kMicro;
    event.duration_ns = (to - from) * kMicro;
    event.track = track;
    event.name = name;
    totals.event(event);
  };
  add("\"a\"", 50, 110);
  add("\"b\"", 150, 400);
  add("\"a\"", 120, 125);
  add("\"c\"", 201, 300);
  EXPECT_EQ(totals.json(),
            R"({"columns":["name","phase","rank","count","total_us","first_us"],"rows":)"
            R"([["b","Forward",7,1,50,150],["a","Forward",7,2,15,50]],"left_out":0})");
}

}  // namespace trainwatch::window_reader_test
