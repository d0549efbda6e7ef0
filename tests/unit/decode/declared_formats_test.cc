// SPDX-License-Identifier: Apache-2.0
// Formats that users declare, beside the presets.
#include "pipeline/decode/declared/declared_formats.h"

#include <gtest/gtest.h>

#include "declared_reading.h"
#include "trainwatch/star_pattern.h"

namespace trainwatch::testing::declared_formats_test {

DeclaredFormats own() {
  FormatDeclaration lines;
  lines.name = "mine";
  lines.files = {"train-*.txt"};
  lines.has = {"it/s loss"};
  lines.line = R"(at (?P<n>\d+) .*loss (?P<loss>\S+) \((?P<gap>\d+)\))";
  lines.step = "n";
  lines.fields = {{.key = "loss", .kind = ScalarKind::loss},
                  {.key = "gap", .scale = 0.5, .tag = "my/gap"},
                  {.key = "lr", .kind = ScalarKind::learning_rate}};
  FormatDeclaration rows;
  rows.name = "rows";
  rows.kind = DeclaredKind::csv;
  rows.has = {"n", "err_a"};
  rows.step = "n";
  rows.rank = "who";
  rows.time = "t";
  rows.time_unit = TimeUnit::milliseconds;
  rows.fields = {{.key = "err*", .kind = ScalarKind::loss}};
  return DeclaredFormats{{lines, rows}};
}

TEST(DeclaredFormats, OwnLinesHaveGroupsAndKeys) {
  const DeclaredFormats formats = own();
  const std::string content = "hello\nat 7 it/s loss 2.5 (4) lr=0.25\nat 9 it/s loss nan (6)\n";
  EXPECT_EQ(scalars_of("/w/train-1.txt", content, &formats),
            (Lines{"loss=2.5 7/1", "other=2 7/1", "learning_rate=0.25 7/1", "loss=nan 9/1",
                   "other=3 9/1"}));
  EXPECT_EQ(scalars_of("/w/train-1.txt", content), Lines{});
}

TEST(DeclaredFormats, OwnRowsHaveOnlyTheirFields) {
  const DeclaredFormats formats = own();
  EXPECT_EQ(scalars_of("/w/a.csv", "n,who,t,err_a,err_b,x\n3,5,1700000000000,1,2,3\n", &formats),
            (Lines{"loss=1 3/1 rank 5", "loss=2 3/1 rank 5"}));
}

TEST(DeclaredFormats, PresetsComeBehindOwnOnesAndHaveNamesOfTheirOwn) {
  const DeclaredFormats formats = own();
  std::vector<std::string> names;
  for (const FormatDeclaration* const format : formats.all()) {
    names.push_back(format->name + "/" + std::to_string(static_cast<int>(format->kind)));
    EXPECT_FALSE(format->has.empty()) << format->name;
  }
  EXPECT_EQ(names.front(), "mine/0");
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(StarPattern, EachStarIsAnyText) {
  EXPECT_TRUE(matches_star("a*c*.json", "abcc.x.json"));
  EXPECT_TRUE(matches_star("*", ""));
  EXPECT_TRUE(matches_star("ab", "ab"));
  EXPECT_TRUE(matches_star("*b", "abab"));
  EXPECT_FALSE(matches_star("a*c", "a"));
  EXPECT_FALSE(matches_star("ab", "abc"));
  EXPECT_FALSE(matches_star("", "a"));
}

}  // namespace trainwatch::testing::declared_formats_test
