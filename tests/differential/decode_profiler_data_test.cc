// SPDX-License-Identifier: Apache-2.0
// Real profiler traces against simdjson's DOM, synthetic ones against their known truth. Skipped
// without ../shared.
#include <cmath>
#include <map>

#include "decode_shared_data.h"

namespace trainwatch::testing::decode_profiler_data_test {

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

TEST_F(SharedData, KinetoTracesOfEveryVersion) {
  for (const Profile& profile : kProfiles) {
    SCOPED_TRACE(profile.file);
    const fs::path path = kShared / "data/kineto" / profile.file;
    const DecodedFile file{path};
    EXPECT_EQ(file.format, "chrome_trace");
    EXPECT_EQ(file.records, profile.events);
    EXPECT_EQ(file.rejects.size(), 0U);
    EXPECT_TRUE(file.complete);
    const std::vector<Span> steps = file.of_kind(SpanKind::step);
    ASSERT_EQ(steps.size(), profile.steps);
    EXPECT_EQ(steps[0].step, profile.first_step);
    EXPECT_EQ(file.subject(steps[0]).rank, profile.rank);
    EXPECT_EQ(file.of_kind(SpanKind::data_wait).size(), profile.waits);
    for (const Span& step : steps) {  // on this century's clock
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
    std::map<std::int64_t, std::pair<double, double>> expected;  // number -> start, duration in us
    const element events = document.is_array() ? document : document["traceEvents"].value();
    for (const element event : events.get_array()) {
      std::string_view name;
      std::string_view category;
      if (event["name"].get(name) != simdjson::SUCCESS || !name.starts_with("ProfilerStep#"))
        continue;
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
    EXPECT_EQ(file.format, "chrome_trace");
    EXPECT_EQ(file.records, load(path).get_array().size());
    EXPECT_EQ(file.rejects.size(), 0U);
    ASSERT_EQ(file.of_kind(SpanKind::step).size(), 3U);
    EXPECT_EQ(file.of_kind(SpanKind::step)[0].step, 1);
    EXPECT_GE(file.of_kind(SpanKind::data_wait).size(), 3U);
    EXPECT_EQ(file.subject(file.spans[0]).node, "vm");
    EXPECT_LT(to_ns(file.spans.back().end()), 1795235697709000001);
  }
  const DecodedFile packed{kShared /
                           "data/torch_debian_cpu/vm_10341.1795235708733.pt.trace.json.gz"};
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
    EXPECT_EQ(file.format, "chrome_trace");
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

}  // namespace trainwatch::testing::decode_profiler_data_test
