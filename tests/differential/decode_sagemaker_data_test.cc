// SPDX-License-Identifier: Apache-2.0
// Real SageMaker files against the results of smdebug's own readers. Skipped without ../shared.
#include <limits>
#include <set>

#include "decode_shared_data.h"

namespace trainwatch::testing::decode_sagemaker_data_test {

TEST_F(SharedData, SystemMetricsEqualSmdebugs) {
  const element reference = load(kShared / "reference/sagemaker_repo_system_metrics.json");
  std::vector<std::string> expected;
  for (const element row : reference["system_events"].get_array()) {
    expected.push_back(text_of(row.at(0)) + "/" + text_of(row.at(1)) + "/" + text_of(row.at(2)) +
                       "/" + text_of(row.at(4)) + " " +
                       std::to_string(row.at(3).get_double().value()) + " " +
                       std::to_string(row.at(5).get_double().value()));
  }
  std::vector<std::string> found;
  std::uint64_t cpu = 0;
  for (const fs::path& path : files_below(kProfiler / "test_traces/system", ".json")) {
    const DecodedFile file{path};
    EXPECT_EQ(file.rejects.size(), 0U);
    EXPECT_EQ(file.records, file.samples.size());
    for (const Sample& sample : file.samples) {
      const Series& series = file.names.series[sample.series];
      const auto type = file.names.text(series.type);
      cpu += type == "cpu" ? 1 : 0;
      found.push_back(std::string{type} + "/" + std::string{file.names.text(series.name)} + "/" +
                      std::string{file.names.text(series.dimension)} + "/" +
                      file.names.subjects[series.subject].node + " " +
                      std::to_string(sample.value) + " " + std::to_string(to_seconds(sample.at)));
    }
  }
  EXPECT_EQ(found.size(), 78U);
  EXPECT_EQ(cpu, 68U);
  EXPECT_EQ(found, expected);
}

TEST_F(SharedData, CorruptSystemMetricsGiveThirteenOfFourteen) {
  const DecodedFile good{kProfiler / "1591160699.algo-1.json"};
  EXPECT_EQ(good.records, 14U);
  EXPECT_EQ(good.rejects.size(), 0U);
  const DecodedFile corrupt{kProfiler / "1591160699.algo-1.json.corrupt"};
  EXPECT_EQ(corrupt.records, 13U);
  EXPECT_EQ(corrupt.rejects, std::vector<std::string>{"syntax"});
}

std::string row(std::string_view name, std::string_view phase, std::int64_t start_ns,
                std::int64_t duration_ns) {
  return std::string{name} + " in " + std::string{phase} + " at " + std::to_string(start_ns) +
         " for " + std::to_string(duration_ns);
}

// The range of a query; both ends belong to it.
struct Range {
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::max();
  bool overlaps(const Span& span) const {
    return to_ns(span.end()) >= begin_ns && to_ns(span.start) <= end_ns;
  }
};

// Spans of all files below `directory`, as text.
std::multiset<std::string> spans_below(const fs::path& directory, std::string_view ending,
                                       const Range& range, std::uint64_t& rejects) {
  std::multiset<std::string> found;
  for (const fs::path& path : files_below(directory, ending)) {
    const DecodedFile file{path};
    rejects += file.rejects.size();
    for (const Span& span : file.spans) {
      if (!range.overlaps(span)) continue;
      found.insert(row(file.names.text(span.name), file.names.text(span.phase), to_ns(span.start),
                       span.duration.count()));
    }
  }
  return found;
}

std::multiset<std::string> rows_of(element events) {
  std::multiset<std::string> expected;
  for (const element event : events.get_array()) {
    expected.insert(row(event.at(0).get_string().value(), event.at(1).get_string().value(),
                        us_to_ns(event.at(2)), us_to_ns(event.at(3))));
  }
  return expected;
}

TEST_F(SharedData, TimelinesEqualSmdebugs) {
  const element reference = load(kShared / "reference/sagemaker_repo_framework_events.json");
  struct Case {
    const char* name;
    const char* key;
    const char* ending;
    std::size_t count;
    Range range{};
  };
  const Case cases[] = {
      {"test_traces", "test_traces", "timeline.json", 4},
      {"model_timeline_traces",
       "model_timeline_traces",
       "timeline.json",
       54,
       {1590461127873222000, 1590461139949971000}},
      {"merge_traces", "merge_traces", "timeline.json", 702},
      {"horovod_timeline_traces", "horovod_all", "timeline.json", 19},
      {"tfprofiler_timeline_traces", "tfprofiler_timeline_traces", ".trace.json.gz", 798},
      {"tfprofiler_local_missing_metadata", "tfprofiler_local_missing_metadata", ".trace.json.gz",
       256},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    std::uint64_t rejects = 0;
    const auto found =
        spans_below(kProfiler / one.name / "framework", one.ending, one.range, rejects);
    EXPECT_EQ(rejects, 0U);
    EXPECT_EQ(found.size(), one.count);
    EXPECT_EQ(found, rows_of(reference[one.key]["events"]));
  }
}

TEST_F(SharedData, HorovodRangeQueryGivesFifteen) {
  const Range range{1593673051472800000, 1593673051473100000};
  std::size_t inside = 0;
  for (const fs::path& path : files_below(kProfiler / "horovod_timeline_traces", ".json")) {
    for (const Span& span : DecodedFile{path}.spans) {
      EXPECT_EQ(span.kind, SpanKind::communication);
      inside += range.overlaps(span) ? 1 : 0;
    }
  }
  EXPECT_EQ(inside, 15U);
}

// Whatever simdjson's DOM finds in a timeline is found here too.
TEST_F(SharedData, TimelinesHaveAsManyRecordsAsTheirArrays) {
  for (const fs::path& path : files_below(kShared / "data/sagemaker", "timeline.json")) {
    SCOPED_TRACE(path.string());
    std::uint64_t complete_spans = 0;
    const element document = load(path);
    for (const element event : document.get_array()) {
      complete_spans += event["ph"].get_string().value() == "X" ? 1 : 0;
    }
    const DecodedFile file{path};
    EXPECT_EQ(file.format, "timeline");
    EXPECT_EQ(file.records, document.get_array().size());
    EXPECT_GE(file.spans.size(), complete_spans);
    EXPECT_TRUE(file.complete);
  }
}

TEST_F(SharedData, RawHorovodTimeline) {
  const DecodedFile file{kProfiler / "horovod_timeline_small.json"};
  EXPECT_EQ(file.format, "timeline");
  EXPECT_EQ(file.rejects.size(), 0U);
  EXPECT_FALSE(file.spans.empty());
  for (const Span& span : file.spans) EXPECT_EQ(span.kind, SpanKind::communication);
}

TEST_F(SharedData, NoOtherFileBreaksAnything) {
  for (const fs::path& path : files_below(kShared / "data/sagemaker", "")) {
    const DecodedFile file{path};
    EXPECT_LE(file.rejects.size(), 1U) << path;
  }
}

}  // namespace trainwatch::testing::decode_sagemaker_data_test
