// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "decode_harness.h"
#include "samples.h"

namespace trainwatch::testing::format_detector_test {

std::string_view detect(std::string_view head, std::string_view path) {
  return detect_format(format_catalog(), head, path).name;
}
std::string_view detect_whole(std::string_view contents, std::string_view path) {
  return detect_whole_file(format_catalog(), contents, path).name;
}

TEST(FormatDetector, KnowsEverySampleByContentAlone) {
  const std::pair<std::string, std::string> cases[] = {
      {kSystemMetrics, "system_metrics"}, {kTimeline, "timeline"},
      {kDamagedTimeline, "timeline"},     {kKineto, "chrome_trace"},
      {kKinetoArray, "chrome_trace"},     {kDebianTorch, "chrome_trace"},
      {kTensorflow, "tensorflow_trace"},  {wandb_sample(), "wandb"}};
  for (const auto& [content, format] : cases) EXPECT_EQ(detect(content, "/x/file"), format);
}

TEST(FormatDetector, MoreBytesNeverChangeAnAnswer) {
  for (const SampleFile& file : sample_files()) {
    std::string_view answer = "undecided";
    for (std::size_t size = 0; size <= file.content.size(); ++size) {
      const auto now = detect(std::string_view{file.content}.substr(0, size), "/x/file");
      if (answer != "undecided") {
        ASSERT_EQ(now, answer) << file.name << " " << size;
      }
      answer = now;
    }
  }
}

struct Case {
  const char* content;
  const char* path;
  std::string_view format;
};

TEST(FormatDetector, Variants) {
  const Case cases[] = {
      {"{\"traceEvents\": [", "/x/trace.json", "chrome_trace"},
      {"{\"traceEvents\": [", "/x/plugins/profile/d/host.trace.json", "tensorflow_trace"},
      {"{\"displayTimeUnit\": \"ns\", \"traceEvents\"", "/x/y", "undecided"},
      {"\n\n {\"Value\": 1, \"Extra\": {}, \"NodeId\": \"a\"}", "/x/y", "system_metrics"},
      {"[{}, {}, {\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": "
       "\"x\"}}",
       "/x/y", "timeline"},
      {"[{\"ph\": \"i\", \"name\": \"CYCLE_START\", \"ts\": 1, \"s\": \"g\"}", "/x/y", "timeline"},
      {"[{\"ph\": \"M\", \"ts\": 1, \"name\": \"process_name\", \"pid\": 1}", "/x/y",
       "chrome_trace"},
      {"[{\"ph\": \"X\", \"tid\": 1, \"name\": \"n\", \"ts\": 1, \"pid\": 1}",
       "/1_a_model_timeline.json", "timeline"},
      {"\xEF\xBB\xBF{\"schemaVersion\": 1", "/x/y", "chrome_trace"},
      {"\xEF\xBB", "/x/y", "undecided"},
      {"", "/x/y", "undecided"},
      {"[\n", "/x/y", "undecided"},
      {"[{\"na", "/x/y", "undecided"},
      {"[1, 2]", "/x/y", "unknown"},
      {"[{\"a\": 1}]", "/x/y", "unknown"},
      {"{\"a\": 1}", "/x/y", "undecided"},
      {"{\"a\": 1}\n{\"b\"", "/x/y", "unknown"},
      {"{(binary", "/x/python_stats", "undecided"},
      {"{\"nam", "/x/y", "undecided"},
      {"\"name\": \"x\", \"ph\": \"X\"},\n{\"ph\": \"i\", \"ts\": 1}", "/x/y", "timeline"},
      {"Z{\"ph\": \"M\"}, {\"ph\": \"i\", \"ts\": 1}", "/x/y", "timeline"},
      {"[{\"p\": \"M\", \"pid\": 1, \"ts\": 1},{\"ph\": \"i\", \"ts\": 1}", "/x/y", "timeline"},
      {"{\"X\": \"a, \"Dimension\": 1}\n{\"NodeId\": \"a\"}", "/x/y", "system_metrics"},
      {"hello", "/x/y", "undecided"},
      {"rest of a line}\n{\"NodeId\"", "/x/y", "undecided"},
      {"rest of a line}\n{\"NodeId\": \"a\"}", "/x/y", "system_metrics"},
      {"rest of a line}\n{\"No{\"NodeId\": \"a\"}\n{\"NodeId\": \"a\"}", "/x/y", "system_metrics"},
      {"}\n{\"a\n{\"b\n{\"c\n{\"d\n{\"NodeId\": \"a\"}", "/x/y", "system_metrics"},
      {"hello\nyou", "/x/y", "unknown"},
      {"hello\nyou", "/x/logs/a_stdout.out.1", "console"},
      {"hello\nyou", "/x/logs/a_stdout.out.one", "unknown"},
      {std::string_view("\0\1\2", 3).data(), "/x/y", "undecided"},
      {"anything", "/x/training_job_end.ts", "empty"},
      {"", "/x/training_job_end.ts", "empty"},
  };
  for (const Case& expected : cases) {
    EXPECT_EQ(detect(expected.content, expected.path), expected.format) << expected.content;
  }
}

TEST(FormatDetector, DecidesAtTheEnd) {
  EXPECT_EQ(detect_whole("", "/x"), "empty");
  EXPECT_EQ(detect_whole("[\n]", "/x"), "empty");
  EXPECT_EQ(detect_whole("[{\"na", "/x"), "unknown");
  EXPECT_EQ(detect_whole("{\"a\": 1}\n", "/x"), "unknown");
  EXPECT_EQ(detect_whole("{(binary", "/x/python_stats"), "unknown");
}

TEST(FormatDetector, GivesUpOnALongBeginning) {
  EXPECT_EQ(detect(std::string(kDetectBytes, ' '), "/x"), "unknown");
  EXPECT_EQ(detect("{\"a\": \"" + std::string(kDetectBytes, 'x'), "/x"), "unknown");
}

// split_test tries every cut, compression and restart of the samples: each row is to have one.
TEST(FormatCatalog, EveryFormatHasASample) {
  std::set<std::string_view> sampled{"empty"};
  for (const SampleFile& file : sample_files()) sampled.insert(detect(file.content, file.path));
  std::set<std::string_view> names;
  for (const Format* const format : format_catalog()) {
    EXPECT_TRUE(names.insert(format->name).second) << format->name << " is there twice";
    EXPECT_TRUE(sampled.contains(format->name)) << format->name << " has no row in samples.h";
    EXPECT_EQ(find_format(format_catalog(), format->name)->name, format->name);
  }
  EXPECT_EQ(find_format(format_catalog(), "no such format"), nullptr);
}

// A format that is not JSON decides by the first bytes, before anything is parsed.
Detection detect_comma_separated(const FormatClue& clue) {
  if (clue.kind != FormatClue::Kind::head) return Detection::no;
  constexpr std::string_view kHeader = "step,loss";
  if (clue.head.starts_with(kHeader)) return Detection::yes;
  return kHeader.starts_with(clue.head) ? Detection::undecided : Detection::no;
}

TEST(FormatDetector, ARowMayAskForBytes) {
  const Format row{.name = "comma_separated", .detect = &detect_comma_separated};
  const Format* const table[] = {&row};
  EXPECT_EQ(&detect_format({table}, "step", "/x"), &kUndecidedFormat);
  EXPECT_EQ(&detect_format({table}, "step,loss\n1,2", "/x"), &row);
  EXPECT_EQ(&detect_format({table}, "steps\n1,2", "/x"), &kUnknownFormat);
  EXPECT_EQ(&detect_whole_file({table}, "step", "/x"), &kUnknownFormat);
}

}  // namespace trainwatch::testing::format_detector_test
