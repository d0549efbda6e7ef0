
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pipeline/decode/gzip_stream.h"

namespace trainwatch::deflate_stream_test {

std::string deflated(const std::vector<std::string>& pieces) {
  std::string out;
  DeflateStream stream([&out](std::string_view bytes) { out += bytes; });
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
    bool at_end = false;
    EXPECT_EQ(inflated(deflated(pieces), at_end), contents);
    EXPECT_TRUE(at_end);
  }
}

TEST(DeflateStream, GivesWhatItHasBeforeTheEnd) {
  std::string out;
  DeflateStream stream([&out](std::string_view bytes) { out += bytes; });
  unsigned random = 1;
  std::string noise;
  for (int i = 0; i < 1'000'000; ++i)
    noise += static_cast<char>((random = random * 69069 + 1) >> 24U);
  stream.write(noise);
  EXPECT_GT(out.size(), noise.size() / 2);
}

}  // namespace trainwatch::deflate_stream_test
