// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/symbol_reader.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace trainwatch::testing::symbol_reader_test {

TEST(SymbolReader, ReadsWhatTheTableKnows) {
  SymbolTable symbols;
  SymbolReader reader{symbols};
  for (int round = 0; round < 2; ++round) {
    for (const std::string text : {"", "x", "forward", "ResNet_layer1", "ResNet_layer2"}) {
      EXPECT_EQ(reader.read('"' + text + '"'), symbols.intern(text)) << text;
    }
    EXPECT_EQ(reader.read(R"("line \"1\"")"), symbols.intern("line \"1\""));
    EXPECT_EQ(reader.read("\"Sp\\u00e4ter\""), symbols.intern("Später"));
    for (const char* bad :
         {"", "12", "forward", "\"forward", R"("forward\x")", "\"forward\xff\""}) {
      EXPECT_EQ(reader.read(bad), std::nullopt) << bad;
    }
  }
}

// Of all lengths, and more than the reader keeps.
TEST(SymbolReader, ManyNames) {
  SymbolTable symbols;
  SymbolReader reader{symbols};
  std::mt19937 random{7};
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 80, 'a');
    if (!text.empty()) text[random() % text.size()] = static_cast<char>('a' + random() % 3);
    ASSERT_EQ(reader.read('"' + text + '"'), symbols.intern(text)) << text;
  }
}

TEST(SymbolReader, EveryNameBeyondTheLimitIsCounted) {
  SymbolTable symbols{2};  // full from the beginning
  SymbolReader reader{symbols};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reader.read("\"forward\""), Symbol::other);
  EXPECT_EQ(symbols.dropped(), 3U);
}

}  // namespace trainwatch::testing::symbol_reader_test
