// SPDX-License-Identifier: Apache-2.0
// How long the tailer waits: the same time whatever the interval between two scans.
#include <chrono>

#include "tests/unit/tail/tailer_fixture.h"

namespace trainwatch::test::tailer_patience_test {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

const std::string kFirst = "/r/system/incremental/1591748100.algo-1.json";
const std::string kSecond = "/r/system/incremental/1591748160.algo-1.json";

class TailerPatience : public TailerTest, public ::testing::WithParamInterface<Nanos> {
 protected:
  // As the daemon: the longest gap is longer than its interval.
  void start() { TailerTest::start({.longest_gap = std::max<Nanos>(5s, 2 * interval)}); }
  void watch(Nanos time) {
    for (const ScanTime end = now + time; now + interval <= end;) {
      scan(interval);
      drain();
    }
  }

  const Nanos interval = GetParam();
};

TEST_P(TailerPatience, ALaneWaitsAMinuteForAFileThatCannotBeRead) {
  start();
  fs.create(kFirst, "first");
  fs.create(kSecond, "second");
  fs.fail_read(kFirst, "read: Input/output error");
  scan(0s);
  drain();
  watch(60s - interval);
  EXPECT_EQ(sink.total, 0U);
  watch(interval + 5s);
  EXPECT_EQ(sink.total, 6U);
}

TEST_P(TailerPatience, AFileThatFailsIsTriedOnceAMinuteInTheEnd) {
  start();
  fs.create("/r/a.json", "x");
  fs.fail_read("/r/a.json", "read: Input/output error");
  watch(10min);
  const std::uint64_t before = fs.reads();
  watch(10min);
  EXPECT_EQ(fs.reads() - before, 10U);
}

TEST_P(TailerPatience, AVanishedFileIsFinishedAfterFiveMinutes) {
  start();
  fs.create("/r/a.json", "x");
  watch(2 * interval);
  fs.rename("/r/a.json", "/away/a.json");
  watch(interval);  // missing from here on
  watch(5min - interval);
  EXPECT_EQ(sink.file("/r/a.json").finished, 0);
  watch(2 * interval);
  EXPECT_EQ(sink.file("/r/a.json").finished, 1);
}
INSTANTIATE_TEST_SUITE_P(Intervals, TailerPatience,
                         ::testing::Values<Nanos>(10ms, 250ms, 1s, 10s, 1min));

TEST_F(TailerTest, WakeUpsDoNotWearPatience) {
  fs.create("/r/a.json", "x");
  pass();
  fs.rename("/r/a.json", "/away/a.json");
  for (int i = 0; i < 1000; ++i) {
    scan(0s);
    EXPECT_THAT(drain(), IsEmpty());
  }
  EXPECT_EQ(fs.open_files(), 1U);
}

// A hung file system, or a stopped process: nobody was looking, and the file may be back.
TEST_F(TailerTest, TimeWithoutScansDoesNotWearPatience) {
  fs.create("/r/a.json", "x");
  pass();
  fs.rename("/r/a.json", "/away/a.json");
  pass();
  scan(1h);
  EXPECT_THAT(drain(), IsEmpty());
  EXPECT_EQ(sink.file("/r/a.json").finished, 0);
}

}  // namespace trainwatch::test::tailer_patience_test
