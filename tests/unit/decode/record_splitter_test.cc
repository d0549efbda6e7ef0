// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/record_splitter.h"

#include <gtest/gtest.h>

namespace trainwatch::record_splitter_test {

class Recorder final : public RecordSink {
 public:
  Rejection record(std::string_view text) override {
    found.emplace_back(text);
    return std::nullopt;
  }
  void member(std::string_view key, std::string_view value) override {
    found.push_back(std::string{key} + " = " + std::string{value});
  }
  void rejected(RejectReason reason, std::string_view) override {
    found.push_back("! " + std::string{to_string(reason)});
  }
  std::vector<std::string> found;
};

using Found = std::vector<std::string>;

// Splits the text in pieces of every size up to 80, which must not matter.
Found split(std::string_view text, bool* closed = nullptr) {
  Found first;
  for (std::size_t size = 1; size < 80; ++size) {
    RecordSplitter splitter;
    Recorder sink;
    for (std::size_t at = 0; at < text.size(); at += size) {
      splitter.feed(text.substr(at, size), sink);
    }
    splitter.finish(sink);
    if (closed != nullptr) *closed = splitter.closed();
    if (size == 1) first = sink.found;
    EXPECT_EQ(sink.found, first) << "pieces of " << size;
  }
  return first;
}

TEST(RecordSplitter, ArrayRoot) {
  bool closed = false;
  EXPECT_EQ(split(" [ {\"a\": 1},\n{\"b\": \"]\"} ]", &closed),
            (Found{"{\"a\": 1}", "{\"b\": \"]\"}"}));
  EXPECT_TRUE(closed);
}

TEST(RecordSplitter, OpenArray) {
  bool closed = true;
  EXPECT_EQ(split("[\n{\"a\": 1},\n{\"b\": 2},\n", &closed), (Found{"{\"a\": 1}", "{\"b\": 2}"}));
  EXPECT_FALSE(closed);
}

TEST(RecordSplitter, CutOffRecordIsOneReject) {
  EXPECT_EQ(split("[\n{\"a\": 1},\n{\"b\": "), (Found{"{\"a\": 1}", "! syntax"}));
}

TEST(RecordSplitter, WriterThatAppendsToAClosedFileOpensItAgain) {
  bool closed = true;
  EXPECT_EQ(split("[{\"a\": 1}]\n[\n{\"b\": 2},\n", &closed), (Found{"{\"a\": 1}", "{\"b\": 2}"}));
  EXPECT_FALSE(closed);
}

TEST(RecordSplitter, ObjectRootWithMembersAroundTheEvents) {
  bool closed = false;
  EXPECT_EQ(
      split("{ \"v\": 1, \"d\": [ {\"x\": \"},\"} ],\"none\": ,\n \"traceEvents\" : [ {\"a\": 1} , "
            "{} ],\n \"s\": \"q\\\"}\", \"o\": {\"r\": 2} }  \n",
            &closed),
      (Found{"v = 1", "d = [ {\"x\": \"},\"} ]", "none = ", "{\"a\": 1}", "{}", "s = \"q\\\"}\"",
             "o = {\"r\": 2}"}));
  EXPECT_TRUE(closed);
}

TEST(RecordSplitter, EmptyEvents) {
  bool closed = false;
  EXPECT_EQ(split("{\"traceEvents\": []}", &closed), Found{});
  EXPECT_TRUE(closed);
}

TEST(RecordSplitter, ResynchronisesAfterAnUnescapedQuote) {
  EXPECT_EQ(
      split(
          "{\"traceEvents\": [\n  {\n    \"name\": \"say \"hi\", \"pid\": 1,\n    \"ts\": 2\n  },\n"
          "  {\n    \"name\": \"good\"\n  }\n  ],\n  \"k\": 1\n}"),
      (Found{"! syntax", "{\n    \"name\": \"good\"\n  }", "k = 1"}));
}

TEST(RecordSplitter, EndOfTheArrayRightAfterDamage) {
  bool closed = false;
  EXPECT_EQ(split("[\n{\"name\": \"say \"hi\"}\n]", &closed), (Found{"! syntax"}));
  EXPECT_TRUE(closed);
}

TEST(RecordSplitter, TornRecordOfACrashedWriter) {
  EXPECT_EQ(split("[\n{\"a\": 1},\n{\"b\": {\"c\"[\n{\"d\": 3},\n"),
            (Found{"{\"a\": 1}", "! syntax", "{\"d\": 3}"}));
  EXPECT_EQ(split("[\n{\"a\": 1},\n{\"b\": \"xy[\n{\"d\": 3},\n"),
            (Found{"{\"a\": 1}", "! syntax", "{\"d\": 3}"}));
}

TEST(RecordSplitter, DamageBetweenMembers) {
  EXPECT_EQ(split("{\"a\": \"x\ny\", \"b\": 1, \"traceEvents\": [{\"c\": 1}], \"d\": 2}").back(),
            "d = 2");
}

Found split_large(std::string_view text, std::size_t piece) {
  RecordSplitter splitter;
  Recorder sink;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    splitter.feed(text.substr(at, piece), sink);
  }
  splitter.finish(sink);
  return sink.found;
}

TEST(RecordSplitter, TooLongRecordCostsOneReject) {
  const std::string nested(3 * kMaxRecordBytes, '[');
  const std::string long_text(2 * kMaxRecordBytes, 'x');
  const std::string depth_bomb = "[{\"a\": 1}, {\"b\": " + nested;
  const std::string long_record = "[{\"a\": 1}, {\"b\": \"" + long_text +
                                  "\"}, {\"c\": 3}, {\"d\": \"" + long_text + "\n{\"e\": 5}]";
  for (const std::size_t piece : {std::size_t{4096}, std::size_t{300007}, std::size_t{1} << 24U}) {
    EXPECT_EQ(split_large(depth_bomb, piece), (Found{"{\"a\": 1}", "! depth"})) << piece;
    EXPECT_EQ(split_large(long_record, piece),
              (Found{"{\"a\": 1}", "! too_long", "{\"c\": 3}", "! too_long", "{\"e\": 5}"}))
        << piece;
  }
}

TEST(RecordSplitter, CutBackTakesTheSeparatorAway) {
  for (const std::size_t bytes : {1U, 2U}) {
    RecordSplitter splitter;
    Recorder sink;
    splitter.feed("[\n{\"a\": 1},\n", sink);
    splitter.cut_back(bytes);
    splitter.feed("\n]", sink);
    EXPECT_EQ(sink.found, Found{"{\"a\": 1}"});
    EXPECT_TRUE(splitter.closed());
  }
}

TEST(RecordSplitter, CutBackInsideARecordTakesItsEndAway) {
  RecordSplitter splitter;
  Recorder sink;
  splitter.feed("[{\"a\": \"x\\", sink);
  splitter.cut_back(2);
  splitter.feed("y\"}]", sink);
  EXPECT_EQ(sink.found, Found{"{\"a\": \"y\"}"});
}

TEST(LineSplitter, LinesAtAnyCut) {
  const std::string text = "one\n\ntwo\r\n" + std::string(50, 'x') + "\nrest";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    LineSplitter splitter;
    Found lines;
    for (std::size_t at = 0; at < text.size(); at += size) {
      splitter.feed(
          std::string_view{text}.substr(at, size),
          [&](std::string_view line) { lines.emplace_back(line); },
          [](std::string_view) { FAIL(); });
    }
    EXPECT_EQ(lines, (Found{"one", "", "two\r", std::string(50, 'x')}));
    EXPECT_EQ(splitter.take_rest(), "rest");
  }
}

TEST(LineSplitter, TooLongLineCostsOneReject) {
  const std::string text = "a\n" + std::string(2 * kMaxRecordBytes, 'x') + "\nb\n";
  for (const std::size_t size : {std::size_t{5000}, text.size()}) {
    LineSplitter splitter;
    Found lines;
    for (std::size_t at = 0; at < text.size(); at += size) {
      splitter.feed(
          std::string_view{text}.substr(at, size),
          [&](std::string_view line) { lines.emplace_back(line); },
          [&](std::string_view) { lines.emplace_back("too long"); });
    }
    EXPECT_EQ(lines, (Found{"a", "too long", "b"}));
  }
}

}  // namespace trainwatch::record_splitter_test
