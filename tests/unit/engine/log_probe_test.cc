// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/log_probe.h"

#include <gtest/gtest.h>

#include <string>

namespace trainwatch::test::log_probe_test {

using Answer = HeadContent::Answer;

HeadContent look(const std::string& name, std::string_view text) {
  IngestOptions input;
  input.roots.push_back({"/r", "r"});
  const auto look = log_probe(input)("/r/" + name);
  for (std::size_t at = 0; at < text.size(); at += 100) {
    if (!look->feed(text.substr(at, 100))) break;
  }
  return look->content();
}

std::string megatron(int steps) {
  std::string text;
  for (int i = 1; i <= steps; ++i) {
    text +=
        " [2026-09-21 14:13:" + std::to_string(10 + i) + "] iteration        " + std::to_string(i) +
        "/   10000 | consumed samples:          256 | elapsed time per iteration (ms): 2000.1 | "
        "learning rate: 1.1E-05 | global batch size:   256 | lm loss: 3." +
        std::to_string(100 - i) +
        "0000E+00 | loss scale: 1.0 | grad norm: 1.101 | number of skipped iterations:   0 | "
        "number of nan iterations:   0 |\n";
  }
  return text;
}

TEST(LogProbe, RecordsShowALog) {
  const HeadContent found = look("train.log", "hello\n" + megatron(30));
  EXPECT_EQ(found.answer, Answer::yes);
  ASSERT_EQ(found.records.size(), HeadContent::kMostRecords);
  EXPECT_EQ(found.records[1].step, 2);
  EXPECT_TRUE(found.records[1].timed);
  EXPECT_DOUBLE_EQ(found.records[1].values.front().value, 3.98) << "the loss";
  EXPECT_EQ(look("log.txt", megatron(1)).answer, Answer::yes);
  EXPECT_EQ(look("train.log", "hello\n").answer, Answer::nothing);
}

TEST(LogProbe, ACauseByNameShowsALog) {
  const std::string_view oom =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n";
  EXPECT_EQ(look("job.log", oom).answer, Answer::yes);
  EXPECT_EQ(look("stories.txt", oom).answer, Answer::nothing) << "a text about it";
}

TEST(LogProbe, EveryProgramWritesTracebacks) {
  const std::string_view raised =
      "Traceback (most recent call last):\n  File \"x.py\", line 3, in f\nValueError: no such "
      "wheel\n";
  EXPECT_EQ(look("pip.log", raised).answer, Answer::nothing);
  EXPECT_EQ(look("train.log", raised).answer, Answer::yes);
}

TEST(LogProbe, NoTextIsNoLog) {
  EXPECT_EQ(look("train.log", std::string(500, '\0')).answer, Answer::no);
  EXPECT_EQ(look("0.log", "\x01\x02\x03\x04\x05").answer, Answer::no);
}

}  // namespace trainwatch::test::log_probe_test
