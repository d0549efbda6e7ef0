// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pipeline/decode/gzip_stream.h"

namespace trainwatch::deflate_stream_test {

using Effort = DeflateStream::Effort;

std::string deflated(const std::vector<std::string>& pieces, Effort effort) {
  std::string out;
  DeflateStream stream([&out](std::string_view bytes) { out += bytes; }, effort);
  for (const std::string& piece : pieces) stream.write(piece);
  stream.finish();
  return out;
}

std::string inflated(std::string_view bytes, bool& at_end) {
  std::string contents;
  InflateStream stream;
  stream.push(bytes);
  for (auto piece = stream.pull(); !piece.empty(); piece = stream.pull()) contents += piece;
  at_end = stream.at_end();
  return contents;
}

TEST(DeflateStream, InflateStreamReadsWhatItWrites) {
  std::string large;
  for (int i = 0; i < 200'000; ++i) large += std::to_string(i * 7919 % 100'003) + ',';
  for (const std::vector<std::string>& pieces :
       {std::vector<std::string>{}, {""}, {"a"}, {"one", "", "two"}, {large, large, "end"}}) {
    std::string contents;
    for (const std::string& piece : pieces) contents += piece;
    for (const Effort effort : {Effort::usual, Effort::fast}) {
      bool at_end = false;
      EXPECT_EQ(inflated(deflated(pieces, effort), at_end), contents);
      EXPECT_TRUE(at_end);
    }
  }
}

std::string noise(std::size_t size) {
  unsigned random = 1;
  std::string text;
  while (text.size() < size) text += static_cast<char>((random = random * 69069 + 1) >> 24U);
  return text;
}

// Pieces are given out when 64 KiB are full: here the end comes just before, with and after that.
TEST(DeflateStream, MayEndWhereAPieceDoes) {
  const std::string text = noise(66'000);
  for (std::size_t size = 65'300; size < 65'700; ++size) {
    bool at_end = false;
    const std::string some = text.substr(0, size);
    ASSERT_EQ(inflated(deflated({some}, Effort::fast), at_end), some) << size;
    ASSERT_TRUE(at_end) << size;
  }
}

TEST(DeflateStream, GivesWhatItHasBeforeTheEnd) {
  for (const Effort effort : {Effort::usual, Effort::fast}) {
    std::string out;
    DeflateStream stream([&out](std::string_view bytes) { out += bytes; }, effort);
    const std::string text = noise(1'000'000);
    stream.write(text);
    EXPECT_GT(out.size(), text.size() / 2);
  }
}

}  // namespace trainwatch::deflate_stream_test
