// SPDX-License-Identifier: Apache-2.0
// Writers of all kinds at work, in random order with passes of the tailer: every byte of every
// file that was not cut is read exactly once, and what is held equals what is on disk.
#include <random>

#include "tests/unit/tail/tailer_fixture.h"

namespace trainwatch::test::tailer_random_test {

class RandomWriters {
 public:
  RandomWriters(ModelFileSystem& fs, unsigned seed) : fs_(fs), random_(seed) {}

  unsigned pick(unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random_); }

  void act() {
    switch (pick(4)) {
      case 0:
        return system_metrics();
      case 1:
        return timeline();
      case 2:
        return profiler();
      default:
        return log();
    }
  }

 private:
  std::string line() { return R"({"n": )" + std::to_string(++lines_) + "},\n"; }

  void system_metrics() {
    if (pick(5) == 0) minute_ += 60;
    const std::string path = "/r/system/incremental/" + std::to_string(minute_) + ".algo-1.json";
    if (!fs_.stat(path)) fs_.create(path);
    fs_.append(path, line());
  }
  void timeline() {
    const std::string open = "/r/framework/0-algo-1_pythontimeline.json.tmp";
    if (!fs_.stat(open)) return fs_.create(open, "[\n");
    if (pick(4) != 0) return fs_.append(open, line());
    fs_.truncate(open, fs_.content(open).size() - 2);
    if (fs_.content(open).empty()) return fs_.unlink(open);
    fs_.append(open, "\n]");
    fs_.rename(open, "/r/framework/pevents/2026112104/" +
                         std::to_string(1795236016000000 + ++lines_) +
                         "_0-algo-1_pythontimeline.json");
  }
  void profiler() {
    if (trace_.empty()) {
      trace_ = "/r/t/vm_1." + std::to_string(1795235697000 + ++lines_) + ".pt.trace.json";
      return fs_.create(trace_ + ".tmp", "{");
    }
    fs_.append(trace_ + ".tmp", line());
    if (pick(4) != 0) return;
    fs_.append(trace_ + ".tmp", "}");
    fs_.rename(trace_ + ".tmp", trace_);
    trace_.clear();
  }
  void log() {
    const std::string path = "/r/log.jsonl";
    if (!fs_.stat(path)) return fs_.create(path, line());
    if (pick(6) != 0) return fs_.append(path, line());
    if (pick(2) == 0) return fs_.unlink(path);
    fs_.rename(path, path + "." + std::to_string(++lines_));
  }

  ModelFileSystem& fs_;
  std::mt19937 random_;
  std::string trace_;
  long minute_ = 1591748100;
  unsigned long lines_ = 0;
};

class TailerRandomTest : public TailerTest, public ::testing::WithParamInterface<unsigned> {};

TEST_P(TailerRandomTest, HoldsWhatIsOnDisk) {
  RandomWriters writers(fs, GetParam());
  start({.chunk_bytes = 7});
  if (writers.pick(2) == 0) fs.short_reads(1 + writers.pick(20));
  for (int i = 0; i < 400; ++i) {
    writers.act();
    switch (writers.pick(8)) {
      case 0:
        scan();
        break;
      case 1:
        tailer->refresh();
        break;
      case 2:
        drain();
        break;
      case 3:
        tailer->read(sink);
        break;
      default:
        break;
    }
  }
  for (int i = 0; i < 3; ++i) pass();
  int compared = 0;
  for (const auto& [id, file] : sink.files) {
    EXPECT_LE(file.finished, 1) << file.path;
    EXPECT_TRUE(file.earlier.empty()) << file.path << " restarted";
    if (!fs.stat(file.path) || &sink.file(file.path) != &file) continue;
    EXPECT_EQ(file.bytes, fs.content(file.path)) << file.path;
    ++compared;
  }
  EXPECT_GT(compared, 5);
  EXPECT_EQ(tailer->unread_bytes(), 0U);
}
INSTANTIATE_TEST_SUITE_P(Seeds, TailerRandomTest, ::testing::Range(0U, 100U));

}  // namespace trainwatch::test::tailer_random_test
