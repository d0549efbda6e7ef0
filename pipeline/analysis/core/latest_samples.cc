// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/latest_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/decode/event_kind.h"

namespace trainwatch {
namespace {

constexpr std::string_view kLatestRow = "latest_samples";
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// How a system series is shown. Percent in the file, a ratio in the metric.
struct SystemMetric {
  Resource resource;
  std::string_view name;
  std::string_view help;
  std::string_view label;  // the `resource` or `direction` label, none when empty
  std::string_view value;
  double scale;
};

constexpr std::string_view kRatio = "trainwatch_system_utilization_ratio";
constexpr std::string_view kRatioHelp = "Last sampled utilisation, 0 to 1.";
constexpr std::string_view kNetwork = "trainwatch_network_bytes_per_second";
constexpr std::string_view kNetworkHelp =
    "Last sampled network throughput; external: with other machines, internal: loopback.";
constexpr std::string_view kDisk = "trainwatch_disk_bytes_per_second";
constexpr std::string_view kDiskHelp = "Last sampled disk throughput.";

constexpr std::string_view kClock = "trainwatch_system_gpu_clock_hertz";
constexpr std::string_view kClockHelp = "Last sampled clock of the GPU.";
constexpr std::string_view kSome = "trainwatch_system_pressure_some_ratio";
constexpr std::string_view kSomeHelp =
    "Share of the sampling interval in which a task waited for the resource (PSI).";
constexpr std::string_view kEvery = "trainwatch_system_pressure_full_ratio";
constexpr std::string_view kEveryHelp =
    "Share of the sampling interval in which all tasks waited for the resource (PSI).";
constexpr std::string_view kCgroupIo = "trainwatch_system_cgroup_io_bytes_per_second";
constexpr std::string_view kCgroupIoHelp = "Last sampled disk throughput of the cgroup.";

constexpr std::array kSystemMetrics = {
    SystemMetric{Resource::cpu_utilization, kRatio, kRatioHelp, "resource", "cpu", 0.01},
    SystemMetric{Resource::cpu_io_wait, kRatio, kRatioHelp, "resource", "io_wait", 0.01},
    SystemMetric{Resource::gpu_utilization, kRatio, kRatioHelp, "resource", "gpu", 0.01},
    SystemMetric{Resource::gpu_memory_utilization, kRatio, kRatioHelp, "resource", "gpu_memory",
                 0.01},
    SystemMetric{Resource::memory_used, kRatio, kRatioHelp, "resource", "memory", 0.01},
    SystemMetric{Resource::network_receive, kNetwork, kNetworkHelp, "direction", "receive", 1},
    SystemMetric{Resource::network_transmit, kNetwork, kNetworkHelp, "direction", "transmit", 1},
    SystemMetric{Resource::io_read, kDisk, kDiskHelp, "direction", "read", 1},
    SystemMetric{Resource::io_write, kDisk, kDiskHelp, "direction", "write", 1},
    SystemMetric{Resource::io_operations, "trainwatch_disk_operations_per_second",
                 "Last sampled disk operations.", "", "", 1},
    SystemMetric{Resource::gpu_sm_clock, kClock, kClockHelp, "clock", "sm", 1e6},
    SystemMetric{Resource::gpu_memory_clock, kClock, kClockHelp, "clock", "memory", 1e6},
    SystemMetric{Resource::gpu_throttle_reasons, "trainwatch_system_gpu_throttle_reasons",
                 "Bits that say why the clocks are low: nvmlClocksEventReasons of NVML.", "", "",
                 1},
    SystemMetric{Resource::gpu_temperature, "trainwatch_system_gpu_temperature_celsius",
                 "Last sampled temperature of the GPU.", "", "", 1},
    SystemMetric{Resource::gpu_power, "trainwatch_system_gpu_power_watts",
                 "Last sampled power draw of the GPU.", "", "", 1},
    SystemMetric{Resource::gpu_ecc_errors, "trainwatch_system_gpu_ecc_errors",
                 "Uncorrected memory errors since the driver was loaded.", "", "", 1},
    SystemMetric{Resource::gpu_xid, "trainwatch_system_gpu_xid",
                 "Number of the last critical error (XID) that was seen; 0: none.", "", "", 1},
    SystemMetric{Resource::cpu_pressure_some, kSome, kSomeHelp, "resource", "cpu", 0.01},
    SystemMetric{Resource::io_pressure_some, kSome, kSomeHelp, "resource", "io", 0.01},
    SystemMetric{Resource::memory_pressure_some, kSome, kSomeHelp, "resource", "memory", 0.01},
    SystemMetric{Resource::cpu_pressure_full, kEvery, kEveryHelp, "resource", "cpu", 0.01},
    SystemMetric{Resource::io_pressure_full, kEvery, kEveryHelp, "resource", "io", 0.01},
    SystemMetric{Resource::memory_pressure_full, kEvery, kEveryHelp, "resource", "memory", 0.01},
    SystemMetric{Resource::cgroup_throttled, "trainwatch_system_cgroup_throttled_ratio",
                 "Share of the periods in which the CPU quota was used up.", "", "", 0.01},
    SystemMetric{Resource::cgroup_memory_used, "trainwatch_system_cgroup_memory_ratio",
                 "Memory in use, without inactive page cache, of the cgroup's limit.", "", "",
                 0.01},
    SystemMetric{Resource::cgroup_io_read, kCgroupIo, kCgroupIoHelp, "direction", "read", 1},
    SystemMetric{Resource::cgroup_io_write, kCgroupIo, kCgroupIoHelp, "direction", "write", 1},
};

// The row of kSystemMetrics; nullopt: the resource is not shown.
std::optional<std::uint8_t> metric_of(Resource resource) {
  const auto* const metric = std::ranges::find(kSystemMetrics, resource, &SystemMetric::resource);
  if (metric == kSystemMetrics.end()) return std::nullopt;
  return static_cast<std::uint8_t>(metric - kSystemMetrics.begin());
}

// Of the series with the same labels.
class Means {
 public:
  void add(const Labels& labels, double value) {
    auto& [sum, count] = sums_[labels];
    sum += value;
    ++count;
  }
  void collect(MetricFamily& family) const {
    for (const auto& [labels, sum] : sums_) {
      family.points.push_back({labels, sum.first / static_cast<double>(sum.second), {}, 0});
    }
  }

 private:
  std::map<Labels, std::pair<double, std::size_t>> sums_;
};

}  // namespace

std::string_view LatestSamples::device_of(const Series& series) const {
  return trainwatch::device_of(series.resource, interner_.text(series.name),
                               interner_.text(series.dimension));
}

bool LatestSamples::show(SeriesId series, std::uint8_t metric, double value) {
  std::size_t& size = family_sizes_[kSystemMetrics[metric].name];
  if (size >= kMaxSeries) return false;
  const Series& shown = interner_.series[series];
  const std::uint64_t hash = std::hash<std::string_view>{}(device_of(shown)) +
                             static_cast<std::uint64_t>(shown.subject) * 0x9E3779B97F4A7C15ULL;
  std::vector<std::uint64_t>& labels = labels_[metric];
  const auto place = std::ranges::lower_bound(labels, hash);
  if (place != labels.end() && *place == hash) return false;
  labels.insert(place, hash);
  ++size;
  places_[static_cast<std::size_t>(series)] = static_cast<std::uint32_t>(shown_.size());
  shown_.push_back({series, value, metric});
  return true;
}

void LatestSamples::add_series(std::size_t count) {
  for (std::size_t i = places_.size(); i < count; ++i) {
    places_.push_back(kNotShown);
    const auto series = static_cast<SeriesId>(i);
    const auto metric = metric_of(interner_.series[series].resource);
    if (metric && !show(series, *metric, kUnknown)) ++dropped_;
  }
}

bool LatestSamples::second_passed() {
  bool silenced = false;
  for (Shown& shown : shown_) {
    if (shown.silent_seconds > kPatience) continue;
    ++shown.silent_seconds;
    silenced = silenced || shown.silent_seconds > kPatience;
  }
  return silenced;
}

void LatestSamples::collect(const MetricsView& view, std::vector<MetricFamily>& out) const {
  const bool by_device = view.cardinality != Cardinality::low;
  for (std::size_t row = 0; row < kSystemMetrics.size(); ++row) {
    const SystemMetric& metric = kSystemMetrics[row];
    if (out.empty() || out.back().name != metric.name) {
      out.push_back(family(metric.name, metric.help, MetricType::gauge));
    }
    Means means;
    for (const Shown& shown : shown_) {
      if (shown.metric != row || std::isnan(shown.value)) continue;
      if (shown.silent_seconds > kPatience) continue;
      const Series& series = interner_.series[shown.series];
      Labels own = labels_of(interner_, series.subject);
      if (!metric.label.empty()) own = with(own, metric.label, metric.value);
      const std::string_view device = device_of(series);
      if (!device.empty() && metric.name == kRatio && !by_device) {
        means.add(own, shown.value * metric.scale);
        continue;
      }
      if (!device.empty()) own = with(own, "device", device);
      out.back().points.push_back({std::move(own), shown.value * metric.scale, {}, 0});
    }
    means.collect(out.back());
  }
}

void LatestSamples::save(StateRows& rows, bool all) {
  if (!std::exchange(changed_, false) && !all) return;
  rows.put(std::string(kLatestRow), [this](StateIo& io) { state(io); });
}

bool LatestSamples::load(const SavedState& saved) {
  return load_row(saved, kLatestRow, [this](StateIo& io) { state(io); });
}

void LatestSamples::state(StateIo& io) {
  auto known = static_cast<std::uint32_t>(places_.size());
  io(known);
  io(dropped_);
  if (!io.is_loading()) return io(shown_);
  std::vector<Shown> shown;
  io(shown);
  if (!io.ok() || !restore(shown, known)) io.fail();
}

bool LatestSamples::restore(const std::vector<Shown>& shown, std::size_t known) {
  places_.assign(std::min(known, interner_.series.size()), kNotShown);
  for (const Shown& one : shown) {
    const auto index = static_cast<std::size_t>(one.series);
    if (index >= places_.size()) places_.resize(index + 1, kNotShown);
    const auto metric = metric_of(interner_.series[one.series].resource);
    if (!metric || places_[index] != kNotShown || !show(one.series, *metric, one.value)) {
      return false;
    }
  }
  // Names that have been forgotten leave room to others.
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto series = static_cast<SeriesId>(i);
    const auto metric = metric_of(interner_.series[series].resource);
    if (metric && places_[i] == kNotShown) (void)show(series, *metric, kUnknown);
  }
  return true;
}

}  // namespace trainwatch
