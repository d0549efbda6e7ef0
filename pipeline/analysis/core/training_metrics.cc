#include "pipeline/analysis/core/training_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "pipeline/analysis/core/metric_families.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxWorkers = 1024;

// The phases of a step that are measured; the others are too fine for a metric.
std::string_view phase_label(SpanKind kind) {
  switch (kind) {
    case SpanKind::data_wait:
      return "input_wait";
    case SpanKind::forward:
      return "forward";
    case SpanKind::backward:
      return "backward";
    case SpanKind::optimizer:
      return "optimizer";
    case SpanKind::checkpoint:
      return "checkpoint";
    case SpanKind::communication:
      return "communication";
    default:
      return {};
  }
}

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
constexpr std::string_view kNetworkHelp = "Last sampled network throughput.";
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

}  // namespace

template <class Map, class Key>
typename Map::mapped_type* TrainingMetrics::entry(Map& map, const Key& key) {
  if (const auto known = map.find(key); known != map.end()) return &known->second;
  if (map.size() >= kMaxSeries) {
    ++dropped_;
    return nullptr;
  }
  return &map[key];
}

void TrainingMetrics::add_series(std::size_t count) {
  for (std::size_t i = last_.size(); i < count; ++i) {
    const Resource resource = interner_.series[static_cast<SeriesId>(i)].resource;
    const auto* const metric = std::ranges::find(kSystemMetrics, resource, &SystemMetric::resource);
    if (metric == kSystemMetrics.end()) continue;
    if (++family_sizes_[metric->name] > kMaxSeries) ++dropped_;
  }
  last_.resize(count);
}

void TrainingMetrics::on(const Span& span) {
  if (!phase_label(span.kind).empty()) {
    if (Histogram* phase = entry(phases_, std::pair{span.subject, span.kind})) {
      phase->observe(to_seconds(span.duration));
    }
  }
  if (span.kind == SpanKind::data_wait) {
    if (Histogram* waits = entry(getnext_, span.subject)) {
      waits->observe(to_seconds(span.duration));
    }
  }
  if (span.kind == SpanKind::data_worker || span.kind == SpanKind::data_wait) {
    auto* workers = span.worker == kNoWorker ? nullptr : entry(workers_, span.subject);
    if (workers != nullptr && workers->size() < kMaxWorkers) (*workers)[span.worker] = 1;
  }
}

void TrainingMetrics::on(const Step& step) {
  // A job that reports its steps itself is not counted a second time from its profiler traces.
  if (step.origin == Origin::timeline) timeline_seen_ = true;
  if (step.origin == Origin::profiler && timeline_seen_) return;
  if (Steps* steps = entry(steps_, std::pair{step.subject, step.mode})) {
    steps->duration.observe(to_seconds(step.duration));
    steps->last = std::max(steps->last, step.end());
    ++steps->count;
  }
  Batches* batches = entry(batches_, step.subject);
  if (batches == nullptr) return;
  if (batches->previous_start != kNoTime && step.start > batches->previous_start) {
    batches->between.observe(to_seconds(step.start - batches->previous_start));
  }
  batches->previous_start = step.start;
}

void TrainingMetrics::collect_steps(std::vector<MetricFamily>& out) const {
  MetricFamily duration =
      histogram_family("trainwatch_step_duration_seconds", "Duration of training steps.");
  MetricFamily total =
      family("trainwatch_steps_total", "Training steps seen.", MetricType::counter);
  MetricFamily last = family("trainwatch_last_step_timestamp_seconds",
                             "Unix time at which the latest step ended.", MetricType::gauge);
  for (const auto& [key, steps] : steps_) {
    const Labels own = with(labels_of(interner_, key.first), "mode", to_string(key.second));
    duration.points.push_back(steps.duration.point(own));
    total.points.push_back({own, static_cast<double>(steps.count), {}, 0});
    last.points.push_back({own, to_seconds(steps.last), {}, 0});
  }
  MetricFamily phase =
      histogram_family("trainwatch_step_phase_seconds", "Duration of the phases of a step.");
  for (const auto& [key, histogram] : phases_) {
    phase.points.push_back(
        histogram.point(with(labels_of(interner_, key.first), "phase", phase_label(key.second))));
  }
  for (MetricFamily* made : {&duration, &total, &last, &phase}) out.push_back(std::move(*made));
}

void TrainingMetrics::collect_data_loading(std::vector<MetricFamily>& out) const {
  MetricFamily getnext = histogram_family("trainwatch_getnext_duration_seconds",
                                          "Time the training loop waited for each batch.");
  for (const auto& [subject, histogram] : getnext_) {
    getnext.points.push_back(histogram.point(labels_of(interner_, subject)));
  }
  MetricFamily batch = histogram_family("trainwatch_batch_time_seconds",
                                        "Time from the start of a batch to the start of the next.");
  for (const auto& [subject, batches] : batches_) {
    batch.points.push_back(batches.between.point(labels_of(interner_, subject)));
  }
  MetricFamily workers = family("trainwatch_dataloader_workers",
                                "Distinct data-loading workers seen.", MetricType::gauge);
  for (const auto& [subject, seen] : workers_) {
    workers.points.push_back(
        {labels_of(interner_, subject), static_cast<double>(seen.size()), {}, 0});
  }
  for (MetricFamily* made : {&getnext, &batch, &workers}) out.push_back(std::move(*made));
}

void TrainingMetrics::collect_system(std::vector<MetricFamily>& out) const {
  for (const SystemMetric& metric : kSystemMetrics) {
    if (out.empty() || out.back().name != metric.name) {
      out.push_back(family(metric.name, metric.help, MetricType::gauge));
    }
    MetricFamily& target = out.back();
    for (std::size_t i = 0; i < last_.size(); ++i) {
      const Series& series = interner_.series[static_cast<SeriesId>(i)];
      if (series.resource != metric.resource || target.points.size() >= kMaxSeries) continue;
      Labels own = labels_of(interner_, series.subject);
      if (!metric.label.empty()) own = with(own, metric.label, metric.value);
      const std::string_view dimension = interner_.text(series.dimension);
      const bool by_interface = metric.name == kNetwork && !dimension.empty();
      own = with(own, "device", by_interface ? dimension : interner_.text(series.name));
      target.points.push_back({std::move(own), last_[i] * metric.scale, {}, 0});
    }
  }
}

void TrainingMetrics::collect(std::vector<MetricFamily>& out) const {
  collect_steps(out);
  collect_data_loading(out);
  collect_system(out);
}

void TrainingMetrics::state(StateIo& io) {
  io(steps_);
  io(phases_);
  io(getnext_);
  io(batches_);
  io(workers_);
  io.by_id<SeriesId>(last_);
  io(dropped_);
  io(timeline_seen_);
  if (io.is_loading() && last_.size() > interner_.series.size()) io.fail();
  if (io.is_loading() && io.ok()) {
    const std::uint64_t dropped = dropped_;
    const std::vector<double> last = std::exchange(last_, {});
    family_sizes_.clear();
    add_series(last.size());
    last_ = last;
    dropped_ = dropped;
  }
  for (const auto& [key, steps] : steps_) {
    if (key.second >= Mode::count_) io.fail();
  }
}

}  // namespace trainwatch
