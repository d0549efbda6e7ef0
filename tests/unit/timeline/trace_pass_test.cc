// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/trace_pass.h"

#include <gtest/gtest.h>

#include "pipeline/timeline/counter_events.h"
#include "support/gzip.h"
#include "unit/timeline/trace_text.h"

namespace trainwatch::trace_pass_test {

using test::TextLog;

// The copy with counters, in pieces that end before each of `cuts`.
std::string with_counters(std::string_view file, const std::vector<std::size_t>& cuts = {}) {
  TextLog log;
  TraceWriter writer(log);
  TraceCopy copy(writer);
  TracePass pass("trace.json", kNoRank, &copy);
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    pass.feed(file.substr(from, cut - from));
    from = cut;
  }
  pass.feed(file.substr(from));
  pass.finish();
  EXPECT_TRUE(pass.is_trace());
  if (pass.cycle()) {
    emit_counters(*pass.cycle(), StepSelection::included,
                  [&copy](std::string_view event) { copy.add(event); });
  }
  writer.finish();
  return log.text;
}

const std::string kCounters =
    R"({"ph":"C","name":"Queue Length","pid":0,"id":7,"ts":10.500,"args":{"Queue Length":1}},
{"ph":"C","name":"Queue Length","pid":0,"id":7,"ts":20.001,"args":{"Queue Length":0}})";

TEST(TracePass, CountersFollowTheEvents) {
  const std::string text = with_counters(test::object_trace());
  EXPECT_NE(text.find(test::kName + ",\n" + kCounters + "\n],\n\"distributedInfo\""),
            std::string::npos)
      << text;
}

TEST(TracePass, DoesNotDependOnCutsOrCompression) {
  const std::string trace = test::object_trace();
  const std::string whole = with_counters(trace);
  for (std::size_t cut = 0; cut <= trace.size(); ++cut)
    EXPECT_EQ(with_counters(trace, {cut}), whole);
  const std::string compressed = test::gzip(trace);
  for (std::size_t cut = 0; cut <= compressed.size(); ++cut)
    EXPECT_EQ(with_counters(compressed, {cut}), whole);
}

TEST(TracePass, AnArrayOfEvents) {
  const std::string trace = "[" + test::kKernel + ", " + test::kLaunch + "]";
  EXPECT_EQ(with_counters(trace),
            "[\n" + test::kKernel + ",\n" + test::kLaunch + ",\n" + kCounters + "\n]\n");
}

TEST(TracePass, AnUnfinishedTraceHasTheCountersOfWhatIsThere) {
  const std::string trace = test::object_trace();
  const std::string cut = trace.substr(0, trace.find(test::kFlow) + 10);
  EXPECT_TRUE(with_counters(cut).ends_with(test::kLaunch + ",\n" + kCounters + "\n]\n}\n"));
}

TEST(TracePass, SaysWhoseTheCycleIsAndItsBase) {
  TracePass pass("trace.json", kNoRank, nullptr);
  pass.feed(test::object_trace());
  pass.finish();
  ASSERT_TRUE(pass.cycle());
  EXPECT_EQ(pass.subject().rank, 3);
  EXPECT_EQ(pass.cycle()->base_ns, 1'700'000'000'000'000'000);
  EXPECT_FALSE(pass.cut_short());
  TracePass configured("trace.json", 5, nullptr);
  configured.feed(test::object_trace());
  configured.finish();
  EXPECT_EQ(configured.subject().rank, 5);
}

TEST(TracePass, SaysWhatIsNoTrace) {
  TracePass metrics("1.json", kNoRank, nullptr);
  metrics.feed(R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":4.76,)");
  EXPECT_EQ(metrics.format().name, "system_metrics");
  EXPECT_FALSE(metrics.is_trace());
  for (const char* contents : {"", "x", "rubbish", "[]"}) {
    TracePass pass("1.json", kNoRank, nullptr);
    pass.feed(contents);
    pass.finish();
    EXPECT_FALSE(pass.is_trace()) << contents;
    EXPECT_FALSE(pass.cycle());
  }
}

TEST(TracePass, SaysWhenCompressedDataEndsEarly) {
  const std::string compressed = test::gzip(test::object_trace());
  TracePass pass("trace.json.gz", kNoRank, nullptr);
  pass.feed(std::string_view(compressed).substr(0, compressed.size() - 4));
  pass.finish();
  EXPECT_TRUE(pass.is_trace());
  EXPECT_TRUE(pass.cut_short());
}

}  // namespace trainwatch::trace_pass_test
