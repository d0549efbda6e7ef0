#include "pipeline/decode/constant_parts.h"

#include <gtest/gtest.h>

#include <string>

namespace trainwatch::constant_parts_test {

TEST(ConstantParts, LinesLieBehindEachOther) {
  ConstantParts parts;
  ConstantParts::Line first;
  ConstantParts::Line second;
  EXPECT_FALSE(first.known());
  parts.set(first, {"{a:", ",b:", "}"});
  parts.set(second, {"{x", "yy", "zzz"});
  EXPECT_EQ(parts.of(first).before, "{a:");
  EXPECT_EQ(parts.of(first).between, ",b:");
  EXPECT_EQ(parts.of(first).after, "}");
  EXPECT_EQ(parts.of(second).after, "zzz");
  EXPECT_EQ(second.begin, 7);
}

TEST(ConstantParts, AnotherSpellingOfTheSameLengthTakesNoMoreRoom) {
  ConstantParts parts;
  ConstantParts::Line line;
  parts.set(line, {"{a:", ",b:", "}"});
  parts.set(line, {"{b:", ",", "   "});
  EXPECT_EQ(line.begin, 0);
  EXPECT_EQ(parts.of(line).between, ",");
  parts.set(line, {"{b:  ", ",", "   "});
  EXPECT_EQ(line.begin, 7);
  EXPECT_EQ(parts.of(line).before, "{b:  ");
}

TEST(ConstantParts, WhatHasNoRoomIsUnknown) {
  ConstantParts parts;
  ConstantParts::Line line;
  parts.set(line, {"{", std::string(70'000, 'x'), "}"});
  EXPECT_FALSE(line.known());
  std::size_t held = 0;
  for (bool room = true; room; ++held) {
    ConstantParts::Line next;
    parts.set(next, {std::string(60'000, 'x'), "y", "z"});
    room = next.known();
  }
  EXPECT_EQ(held - 1, ConstantParts::kMostBytes / 60'002);
}

}  // namespace trainwatch::constant_parts_test
