// The order within a lane when files are rotated away unseen, or cannot be read for a while.
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

}  // namespace trainwatch::test::tailer_order_test
