// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/json_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace trainwatch::json_writer_test {

void write(JsonWriter& json) {
  json.begin_object().key("rows").begin_array();
  for (int row = 0; row < 1000; ++row) {
    json.begin_array();
    for (int i = 0; i < 100; ++i) json.value(row * i);
    json.end_array();
  }
  json.end_array().field("text", "\"quoted\"\n").end_object();
}

TEST(JsonWriter, PassesOnTheSameTextInPieces) {
  JsonWriter whole;
  write(whole);
  std::vector<std::string> pieces;
  JsonWriter json([&pieces](std::string_view piece) { pieces.emplace_back(piece); });
  write(json);
  json.finish();
  std::string text;
  for (const std::string& piece : pieces) {
    text += piece;
    EXPECT_LT(piece.size(), std::size_t{128} << 10U);
  }
  EXPECT_EQ(text, whole.text());
  EXPECT_GT(pieces.size(), 3U);
}

}  // namespace trainwatch::json_writer_test
