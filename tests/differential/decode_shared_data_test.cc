// Decodes the real files of other projects that lie beside the checkout in ../shared and compares
// with the results of smdebug's own readers, with the known truth of the synthetic profiler traces,
// and with simdjson's DOM. Skipped where ../shared is not there.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/file_decoder.h"
#include "pipeline/decode/inflate_stream.h"

namespace trainwatch {
namespace {

namespace fs = std::filesystem;
using simdjson::dom::element;

const fs::path kShared = fs::path{TRAINWATCH_SOURCE_DIR}.parent_path() / "shared";
const fs::path kProfiler = kShared / "data/sagemaker/profiler/resources";

class CollectRejects final : public Diagnostics {
 public:
  void reject(FileId, RejectReason reason, std::string_view) override {
    reasons.emplace_back(to_string(reason));
  }
  std::vector<std::string> reasons;
};

std::string read_file(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string inflated(const fs::path& path) {
  const std::string bytes = read_file(path);
  if (path.extension() != ".gz") return bytes;
  InflateStream stream;
  std::string out;
  stream.push(bytes);
  for (auto piece = stream.pull(); !piece.empty(); piece = stream.pull()) out += piece;
  return out;
}

std::vector<std::string> list_directory(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator{directory, error}) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

// A whole file, decoded in pieces.
struct DecodedFile {
  explicit DecodedFile(const fs::path& path) {
    CollectRejects diagnostics;
    FileDecoder decoder{{FileId{}, LaneId{}, path.string(), "", kNoRank, names, diagnostics,
                         &list_directory}};
    const std::string bytes = read_file(path);
    EventBatch batch;
    for (std::size_t at = 0; at < bytes.size(); at += 60000) {
      decoder.feed(std::string_view{bytes}.substr(at, 60000), batch);
    }
    complete = decoder.complete();
    decoder.finish(batch);
    for (const Event& event : batch) {
      if (const auto* span = std::get_if<Span>(&event)) spans.push_back(*span);
      if (const auto* sample = std::get_if<Sample>(&event)) samples.push_back(*sample);
    }
    rejects = diagnostics.reasons;
    records = decoder.records();
    format = decoder.format();
  }
  std::vector<Span> of_kind(SpanKind kind) const {
    std::vector<Span> found;
    std::copy_if(spans.begin(), spans.end(), std::back_inserter(found),
                 [&](const Span& span) { return span.kind == kind; });
    return found;
  }
  const Subject& subject(const Span& span) const { return names.subjects[span.subject]; }

  Vocabulary names;
  std::vector<Span> spans;
  std::vector<Sample> samples;
  std::vector<std::string> rejects;
  std::uint64_t records = 0;
  Format format{};
  bool complete = false;
};

std::vector<fs::path> files_below(const fs::path& directory, std::string_view ending) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator{directory}) {
    if (entry.is_regular_file() && entry.path().string().ends_with(ending)) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end(),
            [](const fs::path& a, const fs::path& b) { return a.filename() < b.filename(); });
  return found;
}

class SharedData : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kProfiler)) GTEST_SKIP() << kShared << " is not there";
  }
  element load(const fs::path& path) { return parser_.load(path.string()); }
  element parse(const std::string& text) { return parser_.parse(text); }

 private:
  simdjson::dom::parser parser_;
};

std::string text_of(element value) { return std::string{value.get_string().value()}; }

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

// Exact: the reference's doubles print as the decimals that they were made from.
std::int64_t us_to_ns(element microseconds) {
  return parse_time_ns(simdjson::minify(microseconds), TimeUnit::microseconds).value();
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
      {"model_timeline_traces", "model_timeline_traces", "timeline.json", 54,
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
    const auto found = spans_below(kProfiler / one.name / "framework", one.ending, one.range, rejects);
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
    EXPECT_EQ(file.format, Format::timeline);
    EXPECT_EQ(file.records, document.get_array().size());
    EXPECT_GE(file.spans.size(), complete_spans);
    EXPECT_TRUE(file.complete);
  }
}

TEST_F(SharedData, RawHorovodTimeline) {
  const DecodedFile file{kProfiler / "horovod_timeline_small.json"};
  EXPECT_EQ(file.format, Format::timeline);
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

struct Profile {
  const char* file;
  std::uint64_t events;
  std::int32_t rank;
  std::int64_t first_step;
  std::size_t steps;
  std::size_t waits;
};

constexpr Profile kProfiles[] = {
    {"df_index_resolver.json.gz", 216092, 1, 2, 5, 0},
    {"negative_queue_rank0.json.gz", 108936, 0, 550, 5, 0},
    {"rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", 68692, 0, 101, 5, 0},
    {"nccl_data.json.gz", 40573, 0, 4, 3, 0},
    {"sampled_rank-0.json.gz", 4855, 0, 551, 2, 0},
    {"sampled_rank-1.json.gz", 4720, 1, 551, 2, 0},
    {"mi250_minitoy_train_ROCm6_2_kineto.json.gz", 220, kNoRank, 1, 2, 0},
    {"triton_example.json.gz", 71, kNoRank, 1, 1, 0},
    {"resnet50_workers0_2021.pt.trace.json.gz", 75718, kNoRank, 5, 6, 6},
    {"resnet50_workers4_2021.pt.trace.json.gz", 71424, kNoRank, 5, 6, 6},
    {"resnet50_array_root.pt.trace.json.gz", 82276, kNoRank, 5, 6, 6},
};

TEST_F(SharedData, KinetoTracesOfEveryEra) {
  for (const Profile& profile : kProfiles) {
    SCOPED_TRACE(profile.file);
    const fs::path path = kShared / "data/kineto" / profile.file;
    const DecodedFile file{path};
    EXPECT_EQ(file.format, Format::chrome_trace);
    EXPECT_EQ(file.records, profile.events);
    EXPECT_EQ(file.rejects.size(), 0U);
    EXPECT_TRUE(file.complete);
    const std::vector<Span> steps = file.of_kind(SpanKind::step);
    ASSERT_EQ(steps.size(), profile.steps);
    EXPECT_EQ(steps[0].step, profile.first_step);
    EXPECT_EQ(file.subject(steps[0]).rank, profile.rank);
    EXPECT_EQ(file.of_kind(SpanKind::data_wait).size(), profile.waits);
    for (const Span& step : steps) {   // on this century's clock
      EXPECT_GT(to_ns(step.start), 1'600'000'000'000'000'000);
      EXPECT_LT(to_ns(step.start), 1'800'000'000'000'000'000);
    }
  }
}

// The same steps as a plain reading of the whole document, to the microsecond's double.
TEST_F(SharedData, KinetoStepsEqualThoseOfTheDom) {
  for (const Profile& profile : kProfiles) {
    SCOPED_TRACE(profile.file);
    const fs::path path = kShared / "data/kineto" / profile.file;
    const std::string text = inflated(path);
    const element document = parse(text);
    std::int64_t base = 0;
    if (document.is_object() && document["baseTimeNanoseconds"].get(base) != simdjson::SUCCESS) {
      base = 0;
    }
    std::map<std::int64_t, std::pair<double, double>> expected;   // number -> start, duration in us
    const element events = document.is_array() ? document : document["traceEvents"].value();
    for (const element event : events.get_array()) {
      std::string_view name;
      std::string_view category;
      if (event["name"].get(name) != simdjson::SUCCESS || !name.starts_with("ProfilerStep#")) continue;
      if (event["cat"].get(category) == simdjson::SUCCESS && category.starts_with("gpu")) continue;
      expected[std::stoll(std::string{name.substr(13)})] = {event["ts"].get_double().value(),
                                                            event["dur"].get_double().value()};
    }
    const DecodedFile file{path};
    const std::vector<Span> steps = file.of_kind(SpanKind::step);
    ASSERT_EQ(steps.size(), expected.size());
    for (const Span& step : steps) {
      const auto [start_us, duration_us] = expected.at(step.step);
      EXPECT_NEAR(static_cast<double>(to_ns(step.start) - base) / 1e3, start_us, 0.3);
      EXPECT_EQ(step.duration.count(), std::llround(duration_us * 1e3));
    }
  }
}

TEST_F(SharedData, TorchWithoutKineto) {
  for (const fs::path& path : files_below(kShared / "data/torch_debian_cpu", ".pt.trace.json")) {
    const DecodedFile file{path};
    EXPECT_EQ(file.format, Format::chrome_trace);
    EXPECT_EQ(file.records, load(path).get_array().size());
    EXPECT_EQ(file.rejects.size(), 0U);
    ASSERT_EQ(file.of_kind(SpanKind::step).size(), 3U);
    EXPECT_EQ(file.of_kind(SpanKind::step)[0].step, 1);
    EXPECT_GE(file.of_kind(SpanKind::data_wait).size(), 3U);
    EXPECT_EQ(file.subject(file.spans[0]).node, "vm");
    EXPECT_LT(to_ns(file.spans.back().end()), 1795235697709000001);
  }
  const DecodedFile packed{kShared / "data/torch_debian_cpu/vm_10341.1795235708733.pt.trace.json.gz"};
  EXPECT_EQ(packed.rejects.size(), 0U);
  EXPECT_FALSE(packed.of_kind(SpanKind::step).empty());
}

struct TruthStep {
  std::int64_t start_ns = 0;
  std::int64_t step_ns = 0;
  std::int64_t wait_ns = 0;
};

void expect_truth(const fs::path& directory, element truth) {
  const double skew_us = truth["generator"]["clock_skew_us"].get_double().value();
  std::map<std::pair<std::int64_t, std::int64_t>, TruthStep> expected;
  for (const element step : truth["steps"].get_array()) {
    const std::int64_t rank = step["rank"].get_int64().value();
    expected[{rank, step["step"].get_int64().value()}] = {
        us_to_ns(step["start_us"]) + std::llround(skew_us * 1e3 * static_cast<double>(rank)),
        us_to_ns(step["step_us"]), us_to_ns(step["data_wait_us"])};
  }
  std::size_t found = 0;
  for (const auto& [rank, name] : truth["files"].get_object()) {
    const DecodedFile file{directory / text_of(name)};
    SCOPED_TRACE(text_of(name));
    EXPECT_EQ(file.format, Format::chrome_trace);
    EXPECT_EQ(file.rejects.size(), 0U);
    EXPECT_TRUE(file.complete);
    const std::vector<Span> waits = file.of_kind(SpanKind::data_wait);
    for (const Span& step : file.of_kind(SpanKind::step)) {
      ++found;
      EXPECT_EQ(std::to_string(file.subject(step).rank), std::string{rank});
      const auto entry = expected.find({std::stoll(std::string{rank}), step.step});
      ASSERT_NE(entry, expected.end());
      const TruthStep& right = entry->second;
      constexpr std::int64_t kBase = 1'782'967'788'000'000'000;
      const bool relative = right.start_ns < 100'000'000'000'000'000;
      EXPECT_EQ(to_ns(step.start), right.start_ns + (relative ? kBase : 0));
      EXPECT_EQ(step.duration.count(), right.step_ns);
      std::int64_t waited = 0;
      for (const Span& wait : waits) {
        if (wait.start >= step.start && wait.end() <= step.end()) waited += wait.duration.count();
      }
      EXPECT_EQ(waited, right.wait_ns) << "step " << step.step;
    }
  }
  EXPECT_EQ(found, expected.size());
}

TEST_F(SharedData, SyntheticProfilesEqualTheirTruth) {
  std::size_t fixtures = 0;
  for (const fs::path& path : files_below(kShared / "fixtures/kineto", ".json")) {
    if (!path.filename().string().starts_with("truth")) continue;
    SCOPED_TRACE(path.string());
    expect_truth(path.parent_path(), load(path));
    ++fixtures;
  }
  EXPECT_EQ(fixtures, 20U);
}

}  // namespace
}  // namespace trainwatch
