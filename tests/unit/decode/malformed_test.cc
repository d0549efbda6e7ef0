// SPDX-License-Identifier: Apache-2.0
// Bad input costs counted rejects, never a crash, never the rest of the file.
#include <gtest/gtest.h>

#include <random>

#include "decode_harness.h"
#include "pipeline/decode/record_splitter.h"
#include "samples.h"

namespace trainwatch::testing::malformed_test {

using Lines = std::vector<std::string>;

const std::string kLine =
    R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":4.5,"NodeId":"n","Timestamp":1591160699.5})"
    "\n";

TEST(Malformed, LineOfAMegabyteAndAHalf) {
  const Outcome out =
      decode("/w/x", kLine + "{\"Type\": \"" + std::string(1'500'000, 'x') + "\"}\n" + kLine);
  EXPECT_EQ(out.records, 2U);
  EXPECT_EQ(out.rejects, Lines{"too_long"});
}

TEST(Malformed, EveryKindOfBadLine) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"Type":"cpu"})", "type"},
      {R"({"Type":"cpu","Dimension":"d","Value":true,"NodeId":"n","Timestamp":1})", "type"},
      {R"({"Type":"cpu","Dimension":"d","Value":null,"NodeId":"n","Timestamp":1})", "type"},
      {R"({"Type":7,"Dimension":"d","Value":1,"NodeId":"n","Timestamp":1})", "type"},
      {R"({"Type":"cpu","Dimension":"d","Value":1,"NodeId":"n","Timestamp":"1"})", "time"},
      {R"({"Type":"cpu","Dimension":"d","Value":1,"NodeId":"n","Timestamp":NaN})", "time"},
      {R"({"Type":"cpu" "Dimension":"d","Value":1,"NodeId":"n","Timestamp":1})", "syntax"},
      {R"(["Type"])", "syntax"},
      {R"(garbage)", "syntax"},
      {R"({"Type":"c)"
       "\xff\xfe"
       R"(u","Dimension":"d","Value":1,"NodeId":"n","Timestamp":1})",
       "utf8"},
      {R"({"Type":"c\xu","Dimension":"d","Value":1,"NodeId":"n","Timestamp":1})", "syntax"},
      {R"({"Type":"c\U0041","Dimension":"d","Value":1,"NodeId":"n","Timestamp":1})", "syntax"},
      {R"({"Type":"c\uD800","Dimension":"d","Value":1,"NodeId":"n","Timestamp":1})", "utf8"},
      {R"({"Type":"c","Dimension":"d","Value":-01,"NodeId":"n","Timestamp":1})", "type"},
      {R"({"Type":"c","Dimension":"d","Value":2.e3,"NodeId":"n","Timestamp":1})", "type"},
      {R"({"Type":"c","Dimension":"d","Value":0e+-1,"NodeId":"n","Timestamp":1})", "type"},
      {R"({"Type":"c",,"Dimension":"d","Value":1,"NodeId":"n","Timestamp":1})", "syntax"},
      {R"({,"Type":"c","Dimension":"d","Value":1,"NodeId":"n","Timestamp":1})", "syntax"},
      {R"({"Type":"c","Dimension":"d","Value":1,"NodeId":"n","Timestamp":1,"x":[1}]})", "syntax"},
  };
  for (const auto& [line, reason] : cases) {
    const Outcome out = decode("/w/x", kLine + line + "\n" + kLine);
    EXPECT_EQ(out.records, 2U) << line;
    EXPECT_EQ(out.rejects, Lines{reason}) << line;
  }
}

TEST(Malformed, ASampleWithoutATimeIsRejectedAnywhere) {
  const std::string line = R"({"Type":"cpu","Dimension":"d","Value":1,"NodeId":"n","Timestamp":})"
                           "\n";
  for (const std::string& before : {std::string(), kLine}) {
    EXPECT_EQ(decode("/w/x", before + line + kLine).rejects, Lines{"time"});
  }
}

TEST(Malformed, WhatFollowsAWholeObjectCostsOneReject) {
  const std::string whole =
      R"({"Type":"cpu","Dimension":"d","Value":1,"NodeId":"n","Timestamp":1})";
  const Outcome out = decode("/w/x", kLine + whole + " x\n" + kLine);
  EXPECT_EQ(out.records, 3U);
  EXPECT_EQ(out.rejects, Lines{"syntax"});
  EXPECT_EQ(decode("/w/x", kLine + whole + whole + "\n" + kLine).records, 4U);
}

TEST(Malformed, AnObjectIsARecordBeforeItsLineEnds) {
  DecodeRun run{"/w/x"};
  run.feed(kLine.substr(0, kLine.size() - 1));
  EXPECT_EQ(run.decoder().records(), 1U);
  run.feed("\n" + kLine);
  EXPECT_EQ(run.decoder().records(), 2U);
}

TEST(Malformed, UnknownFilesCostOneReject) {
  std::mt19937 random{9};
  std::string garbage(200'000, '\0');
  for (char& c : garbage) c = static_cast<char>(random());
  for (const std::string& content :
       {std::string{"hello world"}, std::string{"{\"a\": 1}\n{\"b\": 2}\n"}, std::string{"[1,2]"},
        garbage, std::string{"\x1f"}, gzip("text"), std::string(100'000, ' ') + kLine}) {
    DecodeRun run{"/w/x.pt.trace.json"};
    for (std::size_t at = 0; at < content.size(); at += 1000) {
      run.feed(std::string_view{content}.substr(at, 1000));
    }
    const Outcome out = run.finish();
    EXPECT_EQ(out.format, "unknown");
    EXPECT_EQ(out.rejects, Lines{"unknown_format"});
  }
}

// Case 21: a file in another encoding, however small and whatever its name.
TEST(Malformed, AFileInUtf16Or32CostsOneReject) {
  const auto widen = [](std::string_view text, std::size_t before, std::size_t after) {
    std::string wide;
    for (const char c : text) wide.append(before, '\0').append(1, c).append(after, '\0');
    return wide;
  };
  using namespace std::string_literals;
  const std::string text = "{\"Ty";
  const std::pair<std::string, const char*> cases[] = {
      {"\xFF\xFE" + widen(text, 0, 1), "utf-16"},
      {"\xFE\xFF" + widen(text, 1, 0), "utf-16"},
      {widen(text, 0, 1), "utf-16"},
      {"\xFF\xFE\0\0"s + widen(text, 0, 3), "utf-32"},
      {widen(text, 0, 3), "utf-32"},
      {"\xFE\xFF" + widen(text, 1, 0) + std::string(100'000, 'x'), "utf-16"}};
  for (const auto& [content, format] : cases) {
    for (const std::size_t cut : {1, 3, 1000}) {
      DecodeRun run{"/w/a.json"};
      for (std::size_t from = 0; from < content.size(); from += cut) {
        run.feed(std::string_view{content}.substr(from, cut));
      }
      EXPECT_EQ(run.decoder().format(), format) << "while it is being written";
      const Outcome out = run.finish();
      EXPECT_EQ(out.format, format);
      EXPECT_EQ(out.rejects, Lines{"utf8"});
      EXPECT_EQ(run.decoder().skipped(), content.size());
    }
  }
}

// The first byte of each character looks like a hole.
TEST(Malformed, Utf16AndUtf32WithoutAMarkCostOneRejectToo) {
  using namespace std::string_literals;
  for (const auto& [content, format] :
       {std::pair{"\0{\0\"\0T\0y\0p\0e\0\""s, "utf-16"},
        {"\0\0\0[\0\0\0{\0\0\0\"\0\0\0T\0\0\0y"s, "utf-32"},
        {"\0\0\xFE\xFF\0\0\0[\0\0\0{\0\0\0\"\0\0\0T\0\0\0y"s, "utf-32"}}) {
    const Outcome out = decode("/w/a.json", content);
    EXPECT_EQ(out.format, format);
    EXPECT_EQ(out.rejects, Lines{"syntax"});
  }
}

// Damage is not mistaken for an encoding: what follows it is read.
TEST(Malformed, AFewNulsAreNoEncoding) {
  using namespace std::string_literals;
  for (const std::string& begin : {"{\0\"\0"s, "\xFF\xFE"s, "\xFF\xFE{\0"s}) {
    const Outcome out = decode("/w/a.json", begin + "\n" + kLine + kLine);
    EXPECT_EQ(out.format, "system_metrics");
    EXPECT_EQ(out.records, 2U);
    EXPECT_EQ(out.rejects.size(), 1U);
  }
}

// They are listed as skipped: an output directory has configurations and logs of others too.
TEST(Malformed, FilesOfOthersAreNoRejects) {
  for (const char* content : {"{\"lr\": 0.1}", "{\"a\": 1}\n{\"b\": 2}\n", "[1,2]", "hello\nyou",
                              "{\"name\": \"x\", \"args\": []}"}) {
    const Outcome out = decode("/w/config.json", content);
    EXPECT_EQ(out.format, "unknown") << content;
    EXPECT_EQ(out.rejects, Lines{}) << content;
  }
}

// Programs that write Chrome traces and are no profiler of ours: clang -ftime-trace, a browser.
TEST(Malformed, TracesOfOtherProgramsAreNoCycles) {
  for (
      const char* content :
      {R"({"traceEvents":[{"pid":7,"tid":7,"ph":"X","ts":10,"dur":900,"name":"Source","args":{"detail":"/usr/include/c++/12/vector"}},{"pid":7,"tid":7,"ph":"X","ts":0,"dur":2000,"name":"Total ExecuteCompiler","args":{"count":1,"avg ms":2}},{"cat":"","pid":7,"tid":7,"ts":0,"ph":"M","name":"process_name","args":{"name":"clang-14"}}],"beginningOfTime":1700000000000000})",
       R"({"traceEvents":[{"args":{"name":"CrRendererMain"},"cat":"__metadata","name":"thread_name","ph":"M","pid":1,"tid":2,"ts":0},{"args":{"data":{}},"cat":"devtools.timeline","dur":10,"name":"FunctionCall","ph":"X","pid":1,"tid":2,"ts":5},{"cat":"v8","dur":3,"name":"V8.Execute","ph":"X","pid":1,"tid":2,"ts":6}],"metadata":{"product-version":"Chrome"}})"}) {
    const Outcome out = decode("/w/trace.json", content);
    EXPECT_EQ(out.events, Lines{});
    EXPECT_EQ(out.rejects, Lines{});
  }
}

TEST(Malformed, DamagedGzipIsCountedOnceAndKeepsWhatCameBefore) {
  std::string text;
  std::mt19937 random{2};
  for (int i = 0; i < 20000; ++i) {
    text += R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":)" +
            std::to_string(random() % 100) + R"(,"NodeId":"n","Timestamp":)" +
            std::to_string(1600000000 + i) + "}\n";
  }
  std::string packed = gzip(text);
  for (std::size_t i = packed.size() / 2; i < packed.size() / 2 + 50; ++i) packed[i] = '\x77';
  const Outcome out = decode("/w/x.json.gz", packed);
  EXPECT_GT(out.records, 5000U);
  ASSERT_FALSE(out.rejects.empty());
  EXPECT_EQ(std::count(out.rejects.begin(), out.rejects.end(), "gzip"), 1);
}

TEST(Malformed, TruncatedGzipIsNotYet) {
  const std::string packed = gzip(kKineto);
  DecodeRun run{"/w/rank0.json.gz"};
  run.feed(std::string_view{packed}.substr(0, packed.size() - 8));
  EXPECT_FALSE(run.decoder().complete());
  const Outcome out = run.finish();
  EXPECT_EQ(out.rejects, Lines{});
  EXPECT_EQ(out.events.size(), 3U);
}

TEST(Malformed, DepthBomb) {
  const std::string bomb = "{\"a\": " + std::string(500'000, '[') + "1";
  EXPECT_EQ(decode("/w/x", kLine + bomb + "\n" + kLine).records, 2U);
  const std::string event = "{\"ph\": \"X\", \"name\": \"n\", \"pid\": 1, \"ts\": 1, \"args\": " +
                            std::string(400'000, '[') + std::string(400'000, ']') + "}";
  const Outcome out =
      decode("/w/a_model_timeline.json", "[{\"ph\":\"i\",\"name\":\"x\"}," + event + "]");
  EXPECT_EQ(out.records, 1U);
  EXPECT_EQ(out.rejects, Lines{"depth"});
}

TEST(Malformed, EverySampleTruncatedEverywhere) {
  for (const SampleFile& file : sample_files()) {
    const Outcome whole = decode(file.path, file.content);
    for (std::size_t size = 0; size < file.content.size(); ++size) {
      const Outcome out = decode(file.path, std::string_view{file.content}.substr(0, size));
      ASSERT_LE(out.records, whole.records) << file.name << " " << size;
      ASSERT_LE(out.rejects.size(), whole.rejects.size() + 1) << file.name << " " << size;
    }
  }
}

// A writer that goes on at its old offset after its file was truncated.
TEST(Malformed, AHoleBeforeTheFirstRecordCostsOneReject) {
  for (const SampleFile& file : sample_files()) {
    if (file.content.starts_with("\x1f\x8b")) continue;
    const Outcome whole = decode(file.path, file.content);
    const std::string holed = std::string(5000, '\0') + file.content;
    for (const std::size_t cut : {0U, 1U, 4999U, 5000U, 5001U}) {
      DecodeRun run{file.path};
      run.feed(std::string_view{holed}.substr(0, cut));
      run.feed(std::string_view{holed}.substr(cut));
      const Outcome out = run.finish();
      EXPECT_EQ(out.records, whole.records) << file.name << " " << cut;
      EXPECT_EQ(out.rejects.size(), whole.rejects.size() + 1) << file.name << " " << cut;
    }
  }
}

void expect_the_same_in_every_cut(const std::string& path, const std::string& content) {
  const Outcome whole = decode(path, content);
  for (std::size_t cut = 0; cut < content.size(); ++cut) {
    DecodeRun run{path};
    run.feed(std::string_view{content}.substr(0, cut));
    run.feed(std::string_view{content}.substr(cut));
    ASSERT_EQ(run.finish(), whole) << "cut at " << cut;
  }
}

// What stands behind a ']' too many is rejected in every cut; it was used when one read held both.
TEST(Malformed, WhatFollowsTheEndOfAKinetoTrace) {
  expect_the_same_in_every_cut(
      "a.pt.trace.json",
      R"([{"name": "ProfilerStep#1", "ph": "X", "cat": "user_annotation", "ts": 100, "dur": 50, "pid": 1, "tid": 1},)"
      R"({"name": "aten::zeros", "ph": "X", "cat": "cpu_op", "ts": 101, "dur": 2, "pid": 1, "tid": 1}],)"
      R"({"name": "ProfilerStep#2", "ph": "X", "cat": "user_annotation", "ts": 150, "dur": 50, "pid": 1, "tid": 1}])");
}

TEST(Malformed, WhatFollowsTheEndOfATensorflowTrace) {
  expect_the_same_in_every_cut(
      "plugins/profile/run/algo-1.trace.json",
      R"({"metadata": {"highres-ticks": true}, "traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": 100, "dur": 50, "name": "a"}]},)"
      R"({"ph": "X", "pid": 1, "tid": 1, "ts": 200, "dur": 50, "name": "b"}])");
}

TEST(Malformed, RandomDamageNeverCrashes) {
  std::mt19937 random{11};
  for (const SampleFile& file : sample_files()) {
    for (int round = 0; round < 3000; ++round) {
      std::string content = file.content;
      for (std::size_t hits = random() % 6 + 1; hits > 0; --hits) {
        const std::size_t at = random() % content.size();
        switch (random() % 4) {
          case 0:
            content[at] = static_cast<char>(random());
            break;
          case 1:
            content.erase(at, random() % 20);
            break;
          case 2:
            content.insert(at, 1, "{}[]\"\\\n,:"[random() % 9]);
            break;
          default:
            content.insert(at, content.substr(random() % content.size(), random() % 50));
        }
        if (content.empty()) content = " ";
      }
      const Outcome whole = decode(file.path, content);
      const std::size_t cut = random() % content.size();
      DecodeRun run{file.path};
      run.feed(std::string_view{content}.substr(0, cut));
      run.feed(std::string_view{content}.substr(cut));
      ASSERT_EQ(run.finish(), whole) << file.name << ":\n" << content << "\ncut at " << cut;
    }
  }
}

}  // namespace trainwatch::testing::malformed_test
