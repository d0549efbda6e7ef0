// SPDX-License-Identifier: Apache-2.0
// The cycles in real profiler traces have the device activity, the launches and the steps that HTA
// finds in them; those of generated traces what their truth says. Skipped without ../shared.
#include <functional>
#include <map>
#include <random>

#include "decode_shared_data.h"
#include "support/cycle_log.h"

namespace trainwatch::testing::cycle_data_test {

// In pieces of the sizes that `next_size` gives.
CycleTrace cycle_of(const fs::path& path, std::vector<std::string>& rejects, bool host_events,
                    const std::function<std::size_t()>& next_size) {
  test::CycleLog log(host_events);
  Interner interner;
  CollectRejects diagnostics;
  FileDecoder decoder{{FileId{}, LaneId{}, path.string(), "", kNoRank, interner, diagnostics,
                       &list_directory, &log},
                      format_catalog()};
  const std::string bytes = read_file(path);
  EventBatch batch;
  std::string_view left = bytes;
  while (!left.empty()) {
    const std::size_t size = std::min(next_size(), left.size());
    decoder.feed(left.substr(0, size), batch);
    left.remove_prefix(size);
  }
  decoder.finish(batch);
  rejects = diagnostics.reasons;
  EXPECT_EQ(log.cycles.size(), 1U) << path;
  return std::move(log.cycles.at(0));
}

CycleTrace cycle_of(const fs::path& path, std::vector<std::string>& rejects) {
  return cycle_of(path, rejects, false, [] { return std::size_t{60000}; });
}

struct Facts {
  const char* file;
  const char* reference;
  const char* rank;          // as HTA has it
  std::size_t operators;     // that HTA takes for device activity
  const char* launch_pairs;  // "n" of launch_stats_r0 may be checked
};

// The one operator of triton's trace carries a "stream" among its arguments, which HTA takes for
// work on that stream.
constexpr Facts kFacts[] = {
    {"df_index_resolver.json.gz", "df_index_resolver.json", "1", 0, nullptr},
    {"negative_queue_rank0.json.gz", "negative_queue.json", "0", 0, "0"},
    {"rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", "ns_resolution.json", "0", 0, "0"},
    {"nccl_data.json.gz", "nccl_data.json", "0", 0, "0"},
    {"sampled_rank-0.json.gz", "sampled_2rank.json", "0", 0, "0"},
    {"sampled_rank-1.json.gz", "sampled_2rank.json", "1", 0, nullptr},
    {"mi250_minitoy_train_ROCm6_2_kineto.json.gz", "amd.json", "0", 0, "0"},
    {"triton_example.json.gz", "triton.json", "0", 1, "0"},
    {"resnet50_workers4_2021.pt.trace.json.gz", "kineto_resnet_nw4_2021.json", "0", 0, "0"},
};

// HTA's choice of names for launch statistics.
bool counts_as_launch(std::string_view name) {
  return name == "cudaLaunchKernel" || name == "cudaLaunchKernelExC" || name == "cudaMemcpyAsync" ||
         name == "cudaMemsetAsync";
}

std::string_view class_name(ActivityClass activity) {
  constexpr std::string_view kNames[] = {"COMPUTATION", "COMMUNICATION", "MEMORY", "OTHER"};
  return kNames[static_cast<std::size_t>(activity)];
}

TEST_F(SharedData, CyclesHaveTheDeviceWorkThatHtaFinds) {
  for (const Facts& facts : kFacts) {
    SCOPED_TRACE(facts.file);
    std::vector<std::string> rejects;
    const CycleTrace cycle = cycle_of(kShared / "data/kineto" / facts.file, rejects);
    EXPECT_EQ(rejects, std::vector<std::string>{});
    EXPECT_EQ(cycle.left_out, 0U);
    const element raw =
        load(kShared / "reference/hta" / facts.reference)["hta_default_rounding"]["raw"];
    const element found = raw["_facts"];
    EXPECT_EQ(cycle.device.size() + facts.operators,
              found["gpu_rows(stream!=-1)"][facts.rank].get_uint64().value());
    std::size_t pairs = 0;
    for (const DeviceActivity& row : cycle.device) {
      if (row.launch == kNoLaunch) continue;
      pairs += counts_as_launch(cycle.names.text(cycle.launches.at(row.launch).name)) ? 1 : 0;
    }
    if (facts.launch_pairs != nullptr) {
      EXPECT_EQ(pairs, found["launch_stats_r0"]["n"].get_uint64().value());
    }
    std::vector<std::int64_t> steps;
    for (const StepRow& step : cycle.steps) steps.push_back(step.number);
    std::vector<std::int64_t> expected;
    for (const element step : found["profiler_steps"].get_array()) expected.push_back(step);
    EXPECT_EQ(steps, expected);
  }
}

// HTA's table is of kernels whose class is not OTHER, and has MEMORY in some modes only.
TEST_F(SharedData, CyclesHaveTheClassesThatHtaGivesToNames) {
  std::size_t compared = 0;
  for (const Facts& facts : kFacts) {
    SCOPED_TRACE(facts.file);
    std::vector<std::string> rejects;
    const CycleTrace cycle = cycle_of(kShared / "data/kineto" / facts.file, rejects);
    std::map<std::string_view, ActivityClass> classes;
    for (const DeviceActivity& row : cycle.device)
      classes[cycle.names.text(row.name)] = row.activity_class;
    const element raw =
        load(kShared / "reference/hta" / facts.reference)["hta_default_rounding"]["raw"];
    element table;
    if (raw["gpu_kernel_metrics_all_no_others"].get(table) != simdjson::SUCCESS) continue;
    for (const element row : table["rows"].get_array()) {
      const std::string name = text_of(row.at(0));
      const auto known = classes.find(name);
      if (known == classes.end()) continue;  // of the other rank
      EXPECT_EQ(class_name(known->second), text_of(row.at(6))) << name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 300U);
}

// Also when the events of the host are kept, and however the bytes come.
TEST_F(SharedData, CyclesWithEventsOfTheHostAreTheSame) {
  std::mt19937 random{5};
  for (const Facts& facts : kFacts) {
    SCOPED_TRACE(facts.file);
    const fs::path path = kShared / "data/kineto" / facts.file;
    std::vector<std::string> rejects;
    const CycleTrace without = cycle_of(path, rejects);
    CycleTrace cycle = cycle_of(path, rejects, true, [] { return std::size_t{60000}; });
    EXPECT_EQ(rejects, std::vector<std::string>{});
    EXPECT_GT(cycle.host.size(), 0U);
    const std::string whole = test::describe(cycle);
    const CycleTrace in_pieces = cycle_of(path, rejects, true, [&random] {
      return std::uniform_int_distribution<std::size_t>{1, 5000}(random);
    });
    EXPECT_TRUE(test::describe(in_pieces) == whole);
    std::size_t launches = 0;
    for (const HostEvent& row : cycle.host) launches += row.launch != kNoLaunch ? 1 : 0;
    EXPECT_EQ(launches, cycle.launches.size());
    cycle.host.clear();
    cycle.syncs.clear();
    cycle.launches.resize(without.launches.size());  // those that only synchronisations name follow
    EXPECT_TRUE(test::describe(cycle) == test::describe(without));
  }
}

// Every step and wait, and all work whose launch is in the file is found to be launched by it.
TEST_F(SharedData, CyclesOfGeneratedTracesEqualTheirTruth) {
  std::size_t files = 0;
  for (const fs::path& path : files_below(kShared / "fixtures/kineto", ".json")) {
    if (!path.filename().string().starts_with("truth")) continue;
    SCOPED_TRACE(path.string());
    const std::string text = read_file(path);
    std::map<std::pair<std::string, std::int64_t>, std::pair<std::int64_t, std::int64_t>> right;
    const element truth = parse(text);
    for (const element step : truth["steps"].get_array()) {
      right[{std::to_string(step["rank"].get_int64().value()), step["step"].get_int64().value()}] =
          {us_to_ns(step["step_us"]), us_to_ns(step["data_wait_us"])};
    }
    std::map<std::string, std::string> names;
    for (const auto& [rank, name] : truth["files"].get_object()) {
      names[std::string{rank}] = text_of(name);
    }
    for (const auto& [rank, name] : names) {
      std::vector<std::string> rejects;
      const CycleTrace cycle = cycle_of(path.parent_path() / name, rejects);
      EXPECT_EQ(rejects, std::vector<std::string>{});
      for (const StepRow& step : cycle.steps) {
        const auto& [duration, wait] = right.at({rank, step.number});
        EXPECT_EQ(step.duration_ns, duration);
        EXPECT_EQ(step.data_wait_ns, wait);
      }
      std::size_t without_launch = 0;
      for (const DeviceActivity& row : cycle.device)
        without_launch += row.launch == kNoLaunch ? 1 : 0;
      EXPECT_EQ(without_launch, 3U) << name;  // those of the step before the first
      EXPECT_GT(cycle.device.size(), 100U);
      ++files;
    }
  }
  EXPECT_GT(files, 50U);
}

}  // namespace trainwatch::testing::cycle_data_test
