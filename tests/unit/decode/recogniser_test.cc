#include "pipeline/decode/recogniser.h"

#include <gtest/gtest.h>

#include "decode_harness.h"
#include "samples.h"

namespace trainwatch::testing {
namespace {

TEST(Recogniser, KnowsEverySampleByContentAlone) {
  const std::pair<std::string, Format> cases[] = {
      {kSystemMetrics, Format::system_metrics}, {kTimeline, Format::timeline},
      {kDamagedTimeline, Format::timeline},     {kKineto, Format::chrome_trace},
      {kKinetoArray, Format::chrome_trace},     {kDebianTorch, Format::chrome_trace},
      {kTensorflow, Format::tensorflow_trace}};
  for (const auto& [content, format] : cases) EXPECT_EQ(recognise(content, "/x/file"), format);
}

TEST(Recogniser, MoreBytesNeverChangeAnAnswer) {
  for (const SampleFile& file : sample_files()) {
    Format answer = Format::undecided;
    for (std::size_t size = 0; size <= file.content.size(); ++size) {
      const Format now = recognise(std::string_view{file.content}.substr(0, size), "/x/file");
      if (answer != Format::undecided) {
        ASSERT_EQ(now, answer) << file.name << " " << size;
      }
      answer = now;
    }
  }
}

struct Case {
  const char* content;
  const char* path;
  Format format;
};

TEST(Recogniser, Variants) {
  const Case cases[] = {
      {"{\"traceEvents\": [", "/x/trace.json", Format::chrome_trace},
      {"{\"traceEvents\": [", "/x/plugins/profile/d/host.trace.json", Format::tensorflow_trace},
      {"{\"displayTimeUnit\": \"ns\", \"traceEvents\"", "/x/y", Format::undecided},
      {"\n\n {\"Value\": 1, \"Extra\": {}, \"NodeId\": \"a\"}", "/x/y", Format::system_metrics},
      {"[{}, {}, {\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": "
       "\"x\"}}",
       "/x/y", Format::timeline},
      {"[{\"ph\": \"i\", \"name\": \"CYCLE_START\", \"ts\": 1, \"s\": \"g\"}", "/x/y",
       Format::timeline},
      {"[{\"ph\": \"M\", \"ts\": 1, \"name\": \"process_name\", \"pid\": 1}", "/x/y",
       Format::chrome_trace},
      {"[{\"ph\": \"X\", \"tid\": 1, \"name\": \"n\", \"ts\": 1, \"pid\": 1}",
       "/1_a_model_timeline.json", Format::timeline},
      {"\xEF\xBB\xBF{\"schemaVersion\": 1", "/x/y", Format::chrome_trace},
      {"\xEF\xBB", "/x/y", Format::undecided},
      {"", "/x/y", Format::undecided},
      {"[\n", "/x/y", Format::undecided},
      {"[{\"na", "/x/y", Format::undecided},
      {"[1, 2]", "/x/y", Format::unknown},
      {"[{\"a\": 1}]", "/x/y", Format::unknown},
      {"{\"a\": 1}", "/x/y", Format::unknown},
      {"{(binary", "/x/python_stats", Format::unknown},
      {"hello", "/x/y", Format::undecided},
      {"rest of a line}\n{\"NodeId\"", "/x/y", Format::undecided},
      {"rest of a line}\n{\"NodeId\": \"a\"}", "/x/y", Format::system_metrics},
      {"rest of a line}\n{\"No{\"NodeId\": \"a\"}\n{\"NodeId\": \"a\"}", "/x/y",
       Format::system_metrics},
      {"}\n{\"a\n{\"b\n{\"c\n{\"d\n{\"NodeId\": \"a\"}", "/x/y", Format::unknown},
      {"hello\nyou", "/x/y", Format::unknown},
      {std::string_view("\0\1\2", 3).data(), "/x/y", Format::undecided},
      {"anything", "/x/training_job_end.ts", Format::empty},
      {"", "/x/training_job_end.ts", Format::empty},
  };
  for (const Case& expected : cases) {
    EXPECT_EQ(recognise(expected.content, expected.path), expected.format) << expected.content;
  }
}

TEST(Recogniser, DecidesAtTheEnd) {
  EXPECT_EQ(recognise_all("", "/x"), Format::empty);
  EXPECT_EQ(recognise_all("[\n]", "/x"), Format::empty);
  EXPECT_EQ(recognise_all("[{\"na", "/x"), Format::unknown);
}

TEST(Recogniser, GivesUpOnALongBeginning) {
  EXPECT_EQ(recognise(std::string(kRecogniseBytes, ' '), "/x"), Format::unknown);
  EXPECT_EQ(recognise("{\"a\": \"" + std::string(kRecogniseBytes, 'x'), "/x"), Format::unknown);
}

}  // namespace
}  // namespace trainwatch::testing
