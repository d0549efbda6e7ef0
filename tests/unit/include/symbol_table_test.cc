// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/symbol_table.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace trainwatch::testing::symbol_table_test {

TEST(SymbolTable, GivesEachNameOneSymbol) {
  SymbolTable table;
  const Symbol add = table.intern("aten::add");
  EXPECT_NE(table.intern("aten::mul"), add);
  EXPECT_EQ(table.intern("aten::add"), add);
  EXPECT_EQ(table.text(add), "aten::add");
  EXPECT_EQ(table.intern(""), Symbol::none);
}

TEST(SymbolTable, MakesNamesValidWhereTheyEnter) {
  SymbolTable table;
  const Symbol bad = table.intern("op\xFF\x1B");
  EXPECT_EQ(table.text(bad), "op\\xff\\x1b");
  EXPECT_EQ(table.intern("op\xFF\x1B"), bad);
  EXPECT_EQ(table.size(), 3U);
}

TEST(SymbolTable, CutsLongNamesAndKeepsThemApart) {
  SymbolTable table;
  const std::string long_name(1U << 20U, 'k');
  const Symbol first = table.intern(long_name + "1");
  EXPECT_NE(table.intern(long_name + "2"), first);
  EXPECT_EQ(table.intern(long_name + "1"), first);
  EXPECT_LE(table.bytes(), 2 * SymbolTable::kLongestName);
}

TEST(SymbolTable, IsBoundedInNumberAndInBytes) {
  SymbolTable few(4);
  const Symbol a = few.intern("a");
  few.intern("b");
  EXPECT_EQ(few.intern("c"), Symbol::other);
  EXPECT_EQ(few.intern("a"), a);
  EXPECT_EQ(few.dropped(), 1U);

  SymbolTable small(100, 10);
  EXPECT_NE(small.intern("eight888"), Symbol::other);
  EXPECT_EQ(small.intern("three"), Symbol::other);
  EXPECT_NE(small.intern("2x"), Symbol::other);
  EXPECT_EQ(small.bytes(), 10U);
}

// Names that differ only in their ends once shared all slots: 300,000 took more than two minutes.
TEST(SymbolTable, NumberedNamesAreLookedUpInConstantTime) {
  SymbolTable table;
  const std::clock_t began = std::clock();  // the processor's time: 0.05 s where nothing is shared
  for (int i = 0; i < 200'000; ++i) table.intern("op" + std::to_string(i));
  EXPECT_EQ(table.size(), 200'002U);
  EXPECT_LT(std::clock() - began, 20 * CLOCKS_PER_SEC);
}

TEST(SymbolTable, KeepsItsNumbersWhenLoaded) {
  SymbolTable table;
  const Symbol name = table.intern("forward");
  StateIo saving = StateIo::saving();
  table.state(saving);
  const std::string saved = saving.take();
  SymbolTable loaded;
  StateIo loading = StateIo::loading(saved);
  loaded.state(loading);
  ASSERT_TRUE(loading.complete());
  EXPECT_EQ(loaded.intern("forward"), name);
  EXPECT_EQ(loaded.bytes(), table.bytes());
}

}  // namespace trainwatch::testing::symbol_table_test
