// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/latest_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace trainwatch::latest_samples_test {

class LatestSamplesTest : public testing::Test {
 protected:
  static Sample sample(Interner& interner, Resource resource, const std::string& device,
                       double value, const std::string& dimension = "") {
    Series series;
    series.subject = interner.subjects.intern({"", "node", kNoRank, ""}).value();
    series.resource = resource;
    series.name = interner.symbols.intern(device);
    series.dimension = interner.symbols.intern(dimension);
    return {Time{std::chrono::seconds(1)}, value, *interner.series.intern(series), resource};
  }
  Sample sample(Resource resource, const std::string& device, double value) {
    return sample(interner_, resource, device, value);
  }
  void fill(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      latest_.on(sample(Resource::cpu_utilization, "cpu" + std::to_string(i), 50));
    }
  }
  static std::vector<MetricPoint> points(const LatestSamples& latest, std::string_view name) {
    std::vector<MetricFamily> all;
    latest.collect({}, all);
    const auto found = std::ranges::find(all, name, &MetricFamily::name);
    return found == all.end() ? std::vector<MetricPoint>{} : found->points;
  }
  StoredRows saved() {
    StateRows rows;
    latest_.save(rows, true);
    StoredRows stored;
    for (const auto& [key, value] : rows.changed()) stored.emplace(key, value.value());
    return stored;
  }

  static constexpr std::string_view kRatio = "trainwatch_system_utilization_ratio";
  Interner interner_;
  LatestSamples latest_{interner_};
};

// The first series is gone, and the others have moved up.
class WithoutTheFirst final : public SavedIds {
 public:
  Fate translate(SubjectId&) override { return Fate::kept; }
  Fate translate(SeriesId& id) override {
    if (id == SeriesId{0}) return Fate::gone;
    id = static_cast<SeriesId>(static_cast<std::uint32_t>(id) - 1);
    return Fate::kept;
  }
  Fate translate(Symbol&) override { return Fate::kept; }
};

TEST_F(LatestSamplesTest, TheLastValueOfASeriesInBaseUnits) {
  latest_.on(sample(Resource::cpu_utilization, "cpu0", 10));
  latest_.on(sample(Resource::io_operations, "sda", 7));
  latest_.on(sample(Resource::cpu_utilization, "cpu0", 40));
  ASSERT_EQ(points(latest_, kRatio).size(), 1U);
  EXPECT_DOUBLE_EQ(points(latest_, kRatio)[0].value, 0.4);
  EXPECT_DOUBLE_EQ(points(latest_, "trainwatch_disk_operations_per_second")[0].value, 7);
}

TEST_F(LatestSamplesTest, DevicesHaveNamesOfDevices) {
  using Device = std::optional<std::string>;
  const auto device = [this](std::string_view name) {
    Device found;
    const std::vector<MetricPoint> shown = points(latest_, name);
    for (const auto& [label, value] : shown.at(0).labels) {
      if (label == "device") found = std::string(value);
    }
    return found;
  };
  latest_.on(sample(Resource::memory_used, "MemoryUsedPercent", 10));
  EXPECT_EQ(device(kRatio), std::nullopt) << "of the whole node";
  latest_.on(sample(interner_, Resource::network_receive, "ReceiveBytesPerSecond", 7, "Algorithm"));
  EXPECT_EQ(device("trainwatch_network_bytes_per_second"), "external");
}

TEST_F(LatestSamplesTest, ASilentSeriesIsNoLongerShown) {
  latest_.on(sample(Resource::cpu_utilization, "cpu0", 10));
  latest_.on(sample(Resource::cpu_utilization, "cpu1", 10));
  for (int second = 0; second < LatestSamples::kPatience; ++second) latest_.second_passed();
  latest_.on(sample(Resource::cpu_utilization, "cpu1", 20));
  EXPECT_EQ(points(latest_, kRatio).size(), 2U);
  latest_.second_passed();
  ASSERT_EQ(points(latest_, kRatio).size(), 1U);
  EXPECT_DOUBLE_EQ(points(latest_, kRatio)[0].value, 0.2);
  latest_.on(sample(Resource::cpu_utilization, "cpu0", 30));
  EXPECT_EQ(points(latest_, kRatio).size(), 2U) << "it is back";
}

TEST_F(LatestSamplesTest, LowShowsTheMeanOverDevices) {
  latest_.on(sample(Resource::cpu_utilization, "cpu0", 10));
  latest_.on(sample(Resource::cpu_utilization, "cpu1", 30));
  latest_.on(sample(Resource::memory_used, "MemoryUsedPercent", 50));
  std::vector<MetricFamily> all;
  latest_.collect({Cardinality::low}, all);
  const auto found = std::ranges::find(all, kRatio, &MetricFamily::name);
  ASSERT_EQ(found->points.size(), 2U);
  EXPECT_EQ(found->points[0].labels, (Labels{{"node", "node"}, {"resource", "cpu"}}));
  EXPECT_DOUBLE_EQ(found->points[0].value, 0.2);
  EXPECT_DOUBLE_EQ(found->points[1].value, 0.5);
}

TEST_F(LatestSamplesTest, TwoSpellingsOfOneDeviceAreOneSeries) {
  const auto disk = [this](const std::string& name, const std::string& dimension) {
    latest_.on(sample(interner_, Resource::io_operations, name, 7, dimension));
  };
  disk("IOPS", "sda");
  disk("sda", "IOPS");
  EXPECT_EQ(points(latest_, "trainwatch_disk_operations_per_second").size(), 1U);
  EXPECT_EQ(latest_.series_dropped(), 1U);
}

// What had no room on the page was once left out without a word.
TEST_F(LatestSamplesTest, SeriesWithoutRoomAreCountedOnceAlsoAfterARestart) {
  fill(kMaxSeries + 7);
  latest_.on(sample(Resource::cpu_utilization, "cpu0", 60));
  EXPECT_EQ(points(latest_, kRatio).size(), kMaxSeries);
  EXPECT_EQ(latest_.series_dropped(), 7U);

  const StoredRows rows = saved();
  SameIds ids(interner_);
  LatestSamples loaded(interner_);
  ASSERT_TRUE(loaded.load({rows, &ids}));
  EXPECT_EQ(points(loaded, kRatio).size(), kMaxSeries);
  EXPECT_EQ(points(loaded, kRatio)[0].value, 0.6);
  loaded.on(sample(Resource::cpu_utilization, "cpu2003", 50));
  EXPECT_EQ(loaded.series_dropped(), 7U) << "known before";
  loaded.on(sample(Resource::cpu_utilization, "one more", 50));
  EXPECT_EQ(loaded.series_dropped(), 8U);
}

TEST_F(LatestSamplesTest, ASeriesThatIsForgottenLeavesItsPlaceToAnother) {
  fill(kMaxSeries + 1);
  const StoredRows rows = saved();
  Interner fresh;
  const auto cpu = [&](std::size_t number, double value) {
    return sample(fresh, Resource::cpu_utilization, "cpu" + std::to_string(number), value);
  };
  for (std::size_t i = 1; i <= kMaxSeries; ++i) (void)cpu(i, 0);
  WithoutTheFirst moved;
  LatestSamples loaded(fresh);
  ASSERT_TRUE(loaded.load({rows, &moved}));
  EXPECT_EQ(points(loaded, kRatio).size(), kMaxSeries - 1) << "one has no value yet";
  loaded.on(cpu(kMaxSeries, 70));
  EXPECT_EQ(points(loaded, kRatio).size(), kMaxSeries);
  EXPECT_EQ(loaded.series_dropped(), 1U) << "as before";
}

TEST_F(LatestSamplesTest, PutsNothingWhenNothingWasSampled) {
  fill(1);
  StateRows first;
  latest_.save(first, false);
  EXPECT_EQ(first.changed().size(), 1U);
  StateRows second;
  latest_.save(second, false);
  EXPECT_TRUE(second.changed().empty());
}

}  // namespace trainwatch::latest_samples_test
