// SPDX-License-Identifier: Apache-2.0
// The order within a lane when files are rotated away unseen, or cannot be read for a while.
#include <map>
#include <random>
#include <string>

#include "pipeline/tail/tailer.h"
#include "tests/unit/tail/tailer_fixture.h"

namespace trainwatch::test::tailer_order_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(TailerTest, AFileRotatedOutOfItsNamesIsReadBeforeThoseThatHaveThemNow) {
  start({.chunk_bytes = 4});
  fs.create("/r/a.jsonl", "the oldest");
  scan();
  ASSERT_TRUE(tailer->read(sink));
  fs.rename("/r/a.jsonl", "/r/a.jsonl.1");
  fs.create("/r/a.jsonl", "second");
  scan();  // known as ".1", its rest is not read yet
  fs.unlink("/r/a.jsonl.1");
  fs.rename("/r/a.jsonl", "/r/a.jsonl.2");
  fs.create("/r/a.jsonl.1", "third");
  sink.take_calls();
  EXPECT_THAT(pass(), ElementsAre("data a.jsonl.1", "finished a.jsonl.1", "opened a.jsonl.2",
                                  "data a.jsonl.2", "opened a.jsonl.1", "data a.jsonl.1"));
}

TEST_F(TailerTest, ALaneWaitsForAFileThatCannotBeRead) {
  const std::string first = "/r/system/incremental/1591748100.algo-1.json";
  const std::string second = "/r/system/incremental/1591748160.algo-1.json";
  fs.create(first, "first");
  fs.create(second, "second");
  fs.create("/r/other.json", "other");
  fs.fail_read(first, "read: Input/output error");
  EXPECT_THAT(pass(),
              ElementsAre("opened 1591748100.algo-1.json", "read_error 1591748100.algo-1.json",
                          "opened other.json", "data other.json"));
  EXPECT_THAT(pass(), IsEmpty());
  fs.heal();
  pass();
  EXPECT_THAT(pass(), ElementsAre("data 1591748100.algo-1.json", "finished 1591748100.algo-1.json",
                                  "opened 1591748160.algo-1.json", "data 1591748160.algo-1.json"));
}

std::string metrics(int minute) {
  return "/r/system/" + std::to_string(2026112100 + minute % 3) + "/" +
         std::to_string(1591748100 + 60 * minute) + ".algo-1.json";
}

TEST_F(TailerTest, AFileThatAListingMissedIsReadBeforeTheNextOfItsLane) {
  fs.create(metrics(0), "a");  // in the first of three directories
  fs.make_directory("/r/system/2026112101");
  fs.make_directory("/r/system/2026112102");
  pass();
  fs.before_list([this](const std::string& directory) {
    if (directory != "/r/system/2026112102") return;
    fs.append(metrics(0), "b");
    fs.create(metrics(1), "c\n");  // listed already
    fs.create(metrics(2), "d");
    fs.before_list(nullptr);
  });
  EXPECT_THAT(pass(), ElementsAre("data 1591748100.algo-1.json", "finished 1591748100.algo-1.json",
                                  "opened 1591748160.algo-1.json", "data 1591748160.algo-1.json",
                                  "finished 1591748160.algo-1.json",
                                  "opened 1591748220.algo-1.json", "data 1591748220.algo-1.json"));
  EXPECT_EQ(sink.file(metrics(0)).bytes, "ab");
}

// Writes numbered lines to the files of two lanes and closes each file before the next. Metrics
// files have their final name from the start, timelines get it when they are closed.
class BusyWriters {
 public:
  BusyWriters(ModelFileSystem& fs, unsigned seed) : fs_(fs), random_(seed) {}

  unsigned pick(unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random_); }
  void act() { pick(2) == 0 ? metrics_line() : timeline_line(); }

  std::map<std::string, std::string> written;  // by lane

 private:
  void metrics_line() {
    if (pick(3) == 0) ++minute_;
    const std::string path = metrics(minute_);
    if (!fs_.exists(path)) fs_.create(path);
    write(path, "metrics");
  }
  void timeline_line() {
    const std::string open = "/r/framework/0-algo-1_pythontimeline.json.tmp";
    if (!fs_.exists(open)) fs_.create(open);
    write(open, "timeline");
    if (pick(3) != 0) return;
    ++closed_;
    fs_.rename(open, "/r/framework/pevents/" + std::to_string(2026112100 + closed_ % 3) + "/" +
                         std::to_string(1795236016000000 + closed_) +
                         "_0-algo-1_pythontimeline.json");
  }
  void write(const std::string& path, const std::string& lane) {
    const std::string line = std::to_string(++lines_) + "\n";
    fs_.append(path, line);
    written[lane] += line;
  }

  ModelFileSystem& fs_;
  std::mt19937 random_;
  int minute_ = 0;
  int closed_ = 0;
  unsigned long lines_ = 0;
};

// What was read of each lane, in that order.
class LaneSink final : public RecordingSink {
 public:
  void opened(const KnownFile& known, const std::string& lane,
              const std::vector<FileId>& repeated) override {
    lanes_[known.file] = known.path.find("timeline") == std::string::npos ? "metrics" : "timeline";
    RecordingSink::opened(known, lane, repeated);
  }
  void data(FileId id, const AppendedBytes& appended) override {
    read[lanes_[id]] += appended.bytes;
    RecordingSink::data(id, appended);
  }

  std::map<std::string, std::string> read;

 private:
  std::map<FileId, std::string> lanes_;
};

class LaneOrderTest : public TailerTest, public ::testing::WithParamInterface<unsigned> {};

TEST_P(LaneOrderTest, HoldsHoweverFastTheFilesFollow) {
  BusyWriters writers(fs, GetParam());
  LaneSink lanes;
  start({.chunk_bytes = 7});
  unsigned lines = 0;
  unsigned calls_apart = 1;
  fs.during_calls([&] {
    for (; lines > 0 && writers.pick(calls_apart) == 0; --lines) writers.act();
  });
  for (int i = 0; i < 60; ++i) {
    lines = writers.pick(30);
    calls_apart = 2 + writers.pick(60);
    tailer->scan(lanes, now += std::chrono::seconds(1));
    for (unsigned reads = writers.pick(30); reads > 0 && tailer->read(lanes);) --reads;
    if (writers.pick(2) == 0) tailer->refresh();
  }
  fs.during_calls(nullptr);
  for (int i = 0; i < 3; ++i) {
    tailer->scan(lanes, now += std::chrono::seconds(1));
    while (tailer->read(lanes)) {
    }
  }
  EXPECT_EQ(lanes.read, writers.written);
}
INSTANTIATE_TEST_SUITE_P(Seeds, LaneOrderTest, ::testing::Range(0U, 200U));

}  // namespace trainwatch::test::tailer_order_test
