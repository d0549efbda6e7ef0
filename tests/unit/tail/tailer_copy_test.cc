// SPDX-License-Identifier: Apache-2.0
// Files that are copied and truncated, also before anything of them was read.
#include "pipeline/tail/tailer.h"
#include "tests/unit/tail/tailer_fixture.h"

namespace trainwatch::test::tailer_copy_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(TailerTest, AFileThatBeginsIsReadAfterTheNextScan) {
  fs.create("/r/a.jsonl");
  pass();
  fs.append("/r/a.jsonl", "one\n");
  EXPECT_FALSE(tailer->refresh());
  EXPECT_THAT(drain(), IsEmpty());
  EXPECT_THAT(pass(), ElementsAre("opened a.jsonl", "data a.jsonl"));
  fs.append("/r/a.jsonl", "two\n");
  EXPECT_TRUE(tailer->refresh());
  EXPECT_THAT(drain(), ElementsAre("data a.jsonl"));
}

TEST_F(TailerTest, ACopyIsReadBeforeWhatCameAfterItThoughTheOriginalWasNeverRead) {
  start();
  fs.create("/r/a.jsonl", "one\n");
  scan();
  fs.create("/r/a.jsonl.1", "one\n");
  fs.truncate("/r/a.jsonl", 0);
  fs.append("/r/a.jsonl", "two\n");
  EXPECT_THAT(drain(), IsEmpty());  // it does not begin as it was seen to
  EXPECT_THAT(pass(),
              ElementsAre("opened a.jsonl.1", "data a.jsonl.1", "opened a.jsonl", "data a.jsonl"));
}

TEST_F(TailerTest, ACopyGoesOnAsSoonAsItsOriginalIsGone) {
  fs.create("/r/a.jsonl", "one\n");
  pass();
  fs.append("/r/a.jsonl", "two\n");
  fs.create("/r/a.jsonl.1", "one\ntwo\n");
  fs.truncate("/r/a.jsonl", 0);
  fs.append("/r/a.jsonl", "number three\n");
  scan();
  fs.unlink("/r/a.jsonl.1");  // it is open by now
  EXPECT_THAT(pass(), ElementsAre("renamed a.jsonl.1", "data a.jsonl.1", "finished a.jsonl.1",
                                  "opened a.jsonl", "data a.jsonl"));
}

TEST_F(TailerTest, ACopyThatIsKeptIsNotRead) {
  fs.create("/r/a.jsonl", "one\n");
  pass();
  fs.create("/r/a.jsonl.1", "one\n");
  for (int i = 0; i < 100; ++i) EXPECT_THAT(pass(), IsEmpty());
  fs.append("/r/a.jsonl", "two\n");
  EXPECT_THAT(pass(), ElementsAre("data a.jsonl"));
}

TEST_F(TailerTest, TheSameFirstWordsProveNothing) {
  fs.create("/r/a.jsonl", "{\"Type\"");
  pass();
  fs.create("/r/a.jsonl.1", "{\"Type\": 1}\n");  // an older log, moved in from elsewhere
  fs.truncate("/r/a.jsonl", 0);
  fs.append("/r/a.jsonl", "[]\n");
  pass();
  pass();
  EXPECT_EQ(sink.file("/r/a.jsonl.1").bytes, "{\"Type\": 1}\n");
  EXPECT_EQ(sink.file("/r/a.jsonl").bytes, "[]\n");
}

}  // namespace trainwatch::test::tailer_copy_test
