// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/constant_parts.h"

#include <gtest/gtest.h>

#include <string>

namespace trainwatch::constant_parts_test {

using Parts = ConstantParts<2>;

TEST(ConstantParts, LinesLieBehindEachOther) {
  Parts parts;
  Parts::Line first;
  Parts::Line second;
  EXPECT_FALSE(first.known());
  parts.set(first, {"{a:", ",b:", "}"});
  parts.set(second, {"{x", "yy", "zzz"});
  EXPECT_EQ(parts.of(first)[0], "{a:");
  EXPECT_EQ(parts.of(first)[1], ",b:");
  EXPECT_EQ(parts.of(first)[2], "}");
  EXPECT_EQ(parts.of(second)[2], "zzz");
  EXPECT_EQ(second.begin, 7);
}

TEST(ConstantParts, AnotherSpellingOfTheSameLengthTakesNoMoreRoom) {
  Parts parts;
  Parts::Line line;
  parts.set(line, {"{a:", ",b:", "}"});
  parts.set(line, {"{b:", ",", "   "});
  EXPECT_EQ(line.begin, 0);
  EXPECT_EQ(parts.of(line)[1], ",");
  parts.set(line, {"{b:  ", ",", "   "});
  EXPECT_EQ(line.begin, 7);
  EXPECT_EQ(parts.of(line)[0], "{b:  ");
}

TEST(ConstantParts, WhatHasNoRoomIsUnknown) {
  Parts parts;
  Parts::Line line;
  parts.set(line, {"{", std::string(70'000, 'x'), "}"});
  EXPECT_FALSE(line.known());
  std::size_t held = 0;
  for (bool room = true; room; ++held) {
    Parts::Line next;
    parts.set(next, {std::string(60'000, 'x'), "y", "z"});
    room = next.known();
  }
  EXPECT_EQ(held - 1, Parts::kMostBytes / 60'002);
}

}  // namespace trainwatch::constant_parts_test
