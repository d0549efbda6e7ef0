// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/joined_lines.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace trainwatch::testing::joined_lines_test {

// The records that take several lines.
std::vector<std::string> joined(const std::vector<std::string>& lines) {
  JoinedLines reader;
  std::vector<std::string> records;
  for (const std::string& line : lines) {
    if (reader.take(line) == JoinedLines::Part::whole) records.emplace_back(reader.text());
  }
  return records;
}
using Records = std::vector<std::string>;

TEST(JoinedLines, ADictionary) {
  EXPECT_EQ(joined({"{'epoch': 0.5,", " 'loss': 2.5,", " 'step': 1}", "{'epoch': 1}"}),
            Records{"{'epoch': 0.5, 'loss': 2.5, 'step': 1}"});
  EXPECT_EQ(joined({"{'epoch': 0.5,", "killed", " 'step': 1}"}), Records{});
}

TEST(JoinedLines, ATable) {
  EXPECT_EQ(joined({"-----------------------", "| rollout/      |     |", "|    len        | 22  |",
                    "| train/        |     |", "|    loss       | 2.5 |", "| total         | 7   |",
                    "-----------------------"}),
            Records{"rollout/len: 22, train/loss: 2.5, total: 7, "});
}

TEST(JoinedLines, RowsBelowALineOfNames) {
  const Records wanted = {"epoch: 0, train_loss: 2.5, time: 01:10, ",
                          "epoch: 1, train_loss: 2.25, time: 01:09, "};
  EXPECT_EQ(joined({"epoch     train_loss  time", "0         2.5         01:10", "saved",
                    "1         2.25        01:09"}),
            wanted);
  EXPECT_EQ(joined({"| epoch | train_loss | time |", "|---|---|---|", "| 0 | 2.5 | 01:10 |",
                    "| 1 | 2.25 | 01:09 |"}),
            wanted);
  EXPECT_EQ(joined({"epoch\ttrain_loss\ttime", "----------------", "0\t2.5\t01:10",
                    "{'epoch': 0.5,", " 'loss': 2.5}"}),
            (Records{wanted[0], "{'epoch': 0.5, 'loss': 2.5}"}));
  EXPECT_EQ(joined({"epoch 3 loss", "0 2.5 01:10"}), Records{});
}

TEST(JoinedLines, ARuleBeforeOtherLinesOpensNothing) {
  JoinedLines reader;
  EXPECT_EQ(reader.take("-----------------------"), JoinedLines::Part::none);
  EXPECT_EQ(reader.take(" validation loss at iteration 1"), JoinedLines::Part::none);
  EXPECT_FALSE(reader.is_open());
}

TEST(JoinedLines, ALineThatTheKubeletCut) {
  EXPECT_EQ(
      joined({"2026-09-21T10:00:00Z stdout P step: 1 lo", "2026-09-21T10:00:00Z stderr F other",
              "2026-09-21T10:00:00Z stdout P ss: 2", "2026-09-21T10:00:00Z stdout F .5"}),
      Records{"2026-09-21T10:00:00Z stdout F step: 1 loss: 2.5"});
}

TEST(JoinedLines, WhatNeverEndsIsDropped) {
  JoinedLines reader;
  reader.take("{'epoch': 0.5,");
  const std::string member(1000, 'x');
  for (int i = 0; i < 20; ++i) reader.take(" '" + member + "',");
  EXPECT_LE(reader.text().size(), JoinedLines::kLongest);
  EXPECT_FALSE(reader.is_open());
}

}  // namespace trainwatch::testing::joined_lines_test
