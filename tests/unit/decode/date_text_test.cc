// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/date_text.h"

#include <gtest/gtest.h>

#include "pipeline/decode/declared/scalar_text.h"
#include "pipeline/decode/ends/line_prefix.h"

namespace trainwatch::testing::date_text_test {

TEST(DateText, FormsOfLoggers) {
  const auto wanted = local_time("2026-11-29 14:03:22");
  ASSERT_TRUE(wanted);
  for (const char* text :
       {"2026-11-29 14:03:22", "2026/11/29 14:03:22", "11/29/2026 14:03:22", "29.11.2026 14:03:22",
        "20261129-14:03:22", "2026-11-29 02:03:22 PM", "11/29/26 14:03:22"}) {
    EXPECT_EQ(date_at(text), wanted) << text;
  }
  EXPECT_EQ(date_at("2026-11-29 12:03:22 AM"), local_time("2026-11-29 00:03:22"));
}

TEST(DateText, WhatStandsBeforeALine) {
  const auto wanted = local_time("2026-11-29 14:03:22");
  const Time written = *wanted + std::chrono::hours(1);
  for (const char* line : {"Sun Nov 29 14:03:22 2026: step 1", "11-29 14:03:22 step 1",
                           "[Sun Nov 29 14:03:22 2026] step 1", "Nov 29 14:03:22 step 1"}) {
    EXPECT_EQ(read_line_prefix(line, written).at, wanted) << line;
  }
  EXPECT_EQ(read_line_prefix("[29/Nov/2026:14:03:22 +0000] step 1", Time{}).at,
            date_at("2026-11-29T14:03:22Z"));
}

TEST(DateText, TheRankBehindTheTime) {
  EXPECT_EQ(read_line_prefix("2026-11-29 14:03:22 [rank 3] step 1", Time{}).rank, 3);
  EXPECT_EQ(read_line_prefix("[3/1] step 1", Time{}).rank, 3);
  EXPECT_EQ(read_line_prefix("[3/25][50/1583] Loss_D: 1.5", Time{}).rank, kNoRank);
}

TEST(DateText, Durations) {
  using enum ScalarKind;
  EXPECT_EQ(scalar_at("0h 1m 5s", elapsed_seconds), 65.0);
  EXPECT_EQ(scalar_at("0.5 min", elapsed_seconds), 30.0);
  EXPECT_EQ(scalar_at("1:00:05", elapsed_seconds), 3605.0);
  EXPECT_EQ(scalar_at("45s644ms", step_seconds), 45.644);
  EXPECT_EQ(scalar_at("12 ms", step_seconds), 0.012);
}

}  // namespace trainwatch::testing::date_text_test
