// SPDX-License-Identifier: Apache-2.0
// Case 36: one long file does not hold up the others.
#include "tests/unit/tail/tailer_fixture.h"

namespace trainwatch::test::tailer_turns_test {

using ::testing::ElementsAre;

constexpr std::size_t kChunk = 1024;

class TailerTurns : public TailerTest {
 protected:
  // One chunk, and the end of the turn.
  Calls turn() {
    tailer->read(sink);
    tailer->end_turn();
    return sink.take_calls();
  }
};

TEST_F(TailerTurns, AFileThatHadItsTurnComesBehindTheOthers) {
  start({.chunk_bytes = kChunk});
  fs.create("/r/a.json", std::string(10 * kChunk, 'a'));
  fs.create("/r/b.json", "b");
  fs.create("/r/c.json", "c");
  scan();
  EXPECT_THAT(turn(), ElementsAre("opened a.json", "data a.json"));
  tailer->read(sink);
  tailer->read(sink);
  EXPECT_THAT(sink.take_calls(),
              ElementsAre("opened b.json", "data b.json", "opened c.json", "data c.json"));
  fs.append("/r/c.json", "cc");
  tailer->read(sink);
  EXPECT_THAT(sink.take_calls(), ElementsAre("data a.json"));
  tailer->refresh({"/r/c.json"});
  tailer->read(sink);
  EXPECT_THAT(sink.take_calls(), ElementsAre("data c.json")) << "a.json is still behind";
  drain();
  EXPECT_EQ(sink.file("/r/a.json").bytes, std::string(10 * kChunk, 'a'));
}

TEST_F(TailerTurns, SoDoesItsLane) {
  const std::string first = "/r/system/incremental/1591748100.algo-1.json";
  const std::string second = "/r/system/incremental/1591748160.algo-1.json";
  start({.chunk_bytes = kChunk});
  fs.create(first, std::string(2 * kChunk, 'a'));
  fs.create(second, "b");
  fs.create("/r/z.json", "z");
  scan();
  turn();
  const Calls calls = drain();
  EXPECT_THAT(calls, ElementsAre("opened z.json", "data z.json", "data 1591748100.algo-1.json",
                                 "finished 1591748100.algo-1.json", "opened 1591748160.algo-1.json",
                                 "data 1591748160.algo-1.json"));
}

TEST_F(TailerTurns, LongFilesTakeTurns) {
  start({.chunk_bytes = kChunk});
  for (const char* path : {"/r/a.json", "/r/b.json", "/r/c.json"}) {
    fs.create(path, std::string(3 * kChunk, 'x'));
  }
  std::string order;
  for (int i = 0; i < 9; ++i) {
    scan();
    for (const std::string& call : turn()) {
      if (call.starts_with("data ")) order += call[5];
    }
  }
  EXPECT_EQ(order, "abcabcabc");
}

TEST_F(TailerTurns, CompressedBytesAreReadFewAtATime) {
  const std::string content = "\x1f\x8b" + std::string(1'000'000, 'x');
  fs.create("/r/named.json.gz", content);
  fs.create("/r/plain.json", content);
  start();
  scan();
  tailer->read(sink);
  EXPECT_LT(sink.total, 20'000U);
  drain();
  const std::uint64_t before = sink.total;
  EXPECT_EQ(before, 2 * content.size());
  fs.append("/r/plain.json", content);
  tailer->refresh();
  tailer->read(sink);
  EXPECT_LT(sink.total - before, 20'000U) << "whatever its name";
}

}  // namespace trainwatch::test::tailer_turns_test
