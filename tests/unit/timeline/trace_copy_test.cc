// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/trace_copy.h"

#include <gtest/gtest.h>

#include "unit/timeline/trace_text.h"

namespace trainwatch::trace_copy_test {

using test::TextLog;

struct Copied {
  std::string text;
  std::uint64_t events = 0;
  std::uint64_t left_out = 0;
};

// `more` is added behind what the trace has.
Copied copied(std::string_view trace, const std::vector<std::string>& more = {}) {
  TextLog log;
  TraceWriter writer(log);
  TraceCopy copy(writer);
  copy.feed(trace);
  copy.finish();
  for (const std::string& event : more) copy.add(event);
  writer.finish();
  return {log.text, copy.events(), copy.left_out()};
}

TEST(TraceCopy, KeepsEventsAndMembersAsTheyAre) {
  const auto [text, events, left_out] = copied(test::object_trace(), {"{\"ph\":\"C\"}"});
  EXPECT_EQ(text,
            "{\n\"schemaVersion\": 1,\n\"baseTimeNanoseconds\": 1700000000000000000,\n"
            "\"traceEvents\": [\n" +
                test::kKernel + ",\n" + test::kLaunch + ",\n" + test::kFlow + ",\n" + test::kName +
                ",\n{\"ph\":\"C\"}\n],\n\"distributedInfo\": {\"rank\": 3},\n"
                "\"traceName\": \"a \\\"name\\\"\"\n}\n");
  EXPECT_EQ(events, 4U);
  EXPECT_EQ(left_out, 0U);
}

TEST(TraceCopy, AnArrayStaysAnArray) {
  EXPECT_EQ(copied("[{\"ph\":\"X\"}, {\"a\": 1}]", {"{\"b\":2}"}).text,
            "[\n{\"ph\":\"X\"},\n{\"a\": 1},\n{\"b\":2}\n]\n");
  EXPECT_EQ(copied("[]").text, "[\n]\n");
}

TEST(TraceCopy, WithoutEventsThereIsStillAnArrayForThem) {
  EXPECT_EQ(copied("{}").text, "{\n\"traceEvents\": [\n]\n}\n");
  EXPECT_EQ(copied("{\"a\": 1}", {"{}"}).text, "{\n\"a\": 1,\n\"traceEvents\": [\n{}\n]\n}\n");
}

TEST(TraceCopy, AnUnfinishedTraceIsClosed) {
  const auto [text, events, left_out] = copied("{\"a\": 1, \"traceEvents\": [{\"b\": 2}, {\"c\"");
  EXPECT_EQ(text, "{\n\"a\": 1,\n\"traceEvents\": [\n{\"b\": 2}\n]\n}\n");
  EXPECT_EQ(events, 1U);
  EXPECT_EQ(left_out, 1U);
}

TEST(TraceCopy, WhatIsNoJsonIsLeftOutAndCounted) {
  const auto [text, events, left_out] = copied(
      "{\"empty\": ,\n\"good\": 1,\n\"traceEvents\": [\n{\"bw\": N/A},\n{\"a\": 1},\n"
      "{\"name\": \"a\"b\"},\n{\"c\": \"\xFF\"},\n{\"d\": 4}\n],\n\"last\": nan}");
  EXPECT_EQ(text, "{\n\"good\": 1,\n\"traceEvents\": [\n{\"a\": 1},\n{\"d\": 4}\n]\n}\n");
  EXPECT_EQ(events, 2U);
  EXPECT_EQ(left_out, 5U);
}

bool is_json(const std::string& document) {
  JsonValidator check;
  return check.is_object("{\"document\": " + document + "}");
}

TEST(TraceCopy, WhatIsWrittenIsJsonWhateverWasRead) {
  const std::string trace = test::object_trace();
  for (std::size_t at = 0; at < trace.size(); ++at) {
    const std::string cut = copied(std::string_view(trace).substr(0, at), {"{}"}).text;
    ASSERT_TRUE(is_json(cut)) << cut;
    for (const char wrong : {'"', '\\', '{', '}', '[', ']', ',', ':', '\n', '\0', '\xFF', 'x'}) {
      std::string damaged = trace;
      damaged[at] = wrong;
      const std::string copy = copied(damaged, {"{}"}).text;
      ASSERT_TRUE(is_json(copy)) << damaged << copy;
    }
  }
}

TEST(TraceCopy, OneOfSeveralIsMovedAndItsMembersAreKeptApart) {
  TextLog log;
  TraceWriter writer(log);
  writer.begin(TraceWriter::Root::object);
  ProcessNumbers processes;
  EventMover mover(processes, processes.group("rank 3"), 0, 0);
  TraceCopy copy(writer, mover);
  copy.feed("{\"a\": 1, \"traceEvents\": [{\"pid\": 41}], \"b\": \"x\"}");
  copy.finish();
  copy.add("{\"pid\":0}");
  writer.finish();
  EXPECT_EQ(log.text, "{\n\"traceEvents\": [\n{\"pid\": 1},\n{\"pid\":2}\n]\n}\n");
  EXPECT_EQ(copy.members(), "\"a\": 1, \"b\": \"x\"");
}

TEST(TraceWriter, LateMembersHaveABound) {
  TextLog log;
  TraceWriter writer(log);
  writer.begin(TraceWriter::Root::object);
  writer.event("{}");
  const std::string large = "\"a\": \"" + std::string(TraceWriter::kMostLateBytes / 2, 'x') + '"';
  EXPECT_TRUE(writer.member(large));
  EXPECT_FALSE(writer.member(large));
  EXPECT_TRUE(writer.member("\"b\": 1"));
  writer.finish();
  EXPECT_TRUE(log.text.ends_with(",\n\"b\": 1\n}\n"));
}

}  // namespace trainwatch::trace_copy_test
