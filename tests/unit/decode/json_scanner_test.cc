// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/json_scanner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace trainwatch::json_scanner_test {

struct Scan {
  std::vector<std::pair<std::size_t, bool>> marks;
  std::vector<std::pair<std::size_t, ScanStop>> stops;
  std::int64_t depth = 0;
  bool in_string = false;
  bool escaped = false;
  bool operator==(const Scan&) const = default;
};

// Scans `text` in the given pieces, going on after every stop as a caller would.
template <class Scanner>
Scan scan(std::string_view text, const std::vector<std::size_t>& sizes, Scanner&& scanner) {
  Scan out;
  ScanState state;
  std::size_t at = 0;
  std::size_t piece = 0;
  while (at < text.size()) {
    const std::size_t size = std::min(sizes[piece++ % sizes.size()], text.size() - at);
    std::size_t used = 0;
    while (used < size) {
      std::vector<RecordMark> marks;
      const std::size_t base = at + used;
      const ScanResult result = scanner(text.substr(base, size - used), state, marks);
      for (const RecordMark mark : marks)
        out.marks.emplace_back(base + mark.offset, mark.edge == RecordEdge::end);
      used += result.consumed;
      if (result.stop == ScanStop::end_of_bytes) break;
      out.stops.emplace_back(at + used, result.stop);
      if (result.stop != ScanStop::closed) state = {};
    }
    at += size;
  }
  out.depth = state.depth;
  out.in_string = state.in_string;
  out.escaped = state.escaped;
  return out;
}

std::string random_text(std::mt19937& random, std::size_t size, std::string_view alphabet) {
  std::string text(size, ' ');
  for (char& c : text) c = alphabet[random() % alphabet.size()];
  return text;
}

std::vector<std::size_t> random_sizes(std::mt19937& random) {
  std::vector<std::size_t> sizes(7);
  for (std::size_t& size : sizes) size = random() % 300 + 1;
  return sizes;
}

TEST(JsonScanner, FastAndScalarAgreeOnNoise) {
  std::mt19937 random{1};
  // Few quotes and line breaks in one alphabet, many in another: long and short strings.
  const std::string_view alphabets[] = {"{}[]\"\\\n ,:a", "{}{}{}[]aaaaaaaaaaaa\"\\",
                                        "\\\\\\\"a{}\n",
                                        "{}[]\n aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""};
  for (int round = 0; round < 4000; ++round) {
    const std::string text = random_text(random, random() % 700, alphabets[round % 4]);
    const Scan expected = scan(text, {text.size() + 1}, scan_records_scalar);
    ASSERT_EQ(scan(text, {text.size() + 1}, scan_records), expected) << text;
    ASSERT_EQ(scan(text, random_sizes(random), scan_records), expected) << text;
  }
}

TEST(JsonScanner, BackslashesAtEveryPlaceOfABlock) {
  for (std::size_t lead = 0; lead < 130; ++lead) {
    for (std::size_t slashes = 1; slashes < 5; ++slashes) {
      const std::string text = "{\"" + std::string(lead, 'x') + std::string(slashes, '\\') + "\"}" +
                               std::string(70, ' ') + "{\"}\"}";
      const Scan expected = scan(text, {text.size()}, scan_records_scalar);
      ASSERT_EQ(scan(text, {text.size()}, scan_records), expected);
      for (std::size_t cut = 1; cut < text.size(); ++cut) {
        ASSERT_EQ(scan(text, {cut, text.size()}, scan_records), expected) << lead << " " << slashes;
      }
    }
  }
}

TEST(JsonScanner, MarksRecordsAndTheEndOfTheArray) {
  const std::string text = R"([{"a": "]}{\""}, {"b": [1, {"c": 2}]}] tail)";
  const Scan found = scan(text, {text.size()}, scan_records);
  const std::vector<std::pair<std::size_t, bool>> marks = {
      {1, false}, {14, true}, {17, false}, {36, true}};
  EXPECT_EQ(found.marks, marks);
  ASSERT_EQ(found.stops.size(), 1U);
  EXPECT_EQ(found.stops[0], (std::pair{std::size_t{38}, ScanStop::closed}));
}

TEST(JsonScanner, StopsAtALineBreakInAString) {
  const std::string text = "{\"a\": \"x\ny\"}";
  ScanState state;
  std::vector<RecordMark> marks;
  const ScanResult result = scan_records(text, state, marks);
  EXPECT_EQ(result.stop, ScanStop::broken_string);
  EXPECT_EQ(text[result.consumed], '\n');
}

TEST(JsonScanner, StopsAtARecordThatBeginsALineInsideAnother) {
  const std::string text = "{\"a\": 1,\n{\"b\": 2}";
  ScanState state;
  std::vector<RecordMark> marks;
  const ScanResult result = scan_records(text, state, marks);
  EXPECT_EQ(result.stop, ScanStop::torn);
  EXPECT_EQ(text.substr(result.consumed), "{\"b\": 2}");
}

}  // namespace trainwatch::json_scanner_test
