// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/gpu_metrics.h"

#include <algorithm>

#include "pipeline/analysis/core/metric_families.h"
#include "pipeline/analysis/table_cells.h"
#include "pipeline/cycle/launches.h"
#include "pipeline/cycle/memory_bandwidth.h"

namespace trainwatch {
namespace {

constexpr std::array<std::string_view, kIdleCauses> kCauses = {"host_wait", "kernel_wait", "other"};

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

double ratio(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// While copies of the kind go on. A gigabyte per second is a byte per nanosecond.
double mean_bytes_per_second(const CopyBandwidth& copies) {
  double bytes = 0;
  double busy_ns = 0;
  for (std::size_t i = 1; i < copies.changes.size(); ++i) {
    const BandwidthChange& from = copies.changes[i - 1];
    if (from.gbps <= 0) continue;
    const auto lasts = static_cast<double>(copies.changes[i].at_ns - from.at_ns);
    bytes += from.gbps * lasts;
    busy_ns += lasts;
  }
  return busy_ns > 0 ? bytes / busy_ns * 1e9 : 0;
}

std::int64_t longest_queue(const SelectedCycle& selected) {
  std::int64_t longest = 0;
  for (QueueSweep sweep(selected.cycle(), selected.rows()); sweep.next_stream();) {
    for (QueueChange change; sweep.next(change);) longest = std::max(longest, change.length);
  }
  return longest;
}

}  // namespace

void GpuMetrics::Rank::add(const CycleSummary& summary) {
  window_ns = summary.window_ns;
  busy_ns = summary.busy_ns;
  cycle_communication_ns = summary.communication_ns;
  overlapped_ns = summary.overlapped_ns;
  step_ns = summary.step_ns();
  data_wait_ns = summary.data_wait_ns();
  for (std::size_t i = 0; i < kIdleCauses; ++i) idle_ns[i] += summary.idle_ns[i];
  computation_ns += summary.computation_ns;
  communication_ns += summary.communication_ns;
  memory_ns += summary.memory_ns;
}

void GpuMetrics::Rank::state(StateIo& io) {
  io(window_ns);
  io(busy_ns);
  io(cycle_communication_ns);
  io(overlapped_ns);
  io(step_ns);
  io(data_wait_ns);
  io(longest_queue);
  io(bytes_per_second);
  io(idle_ns);
  io(computation_ns);
  io(communication_ns);
  io(memory_ns);
  io(launch_delay);
  if (bytes_per_second.size() > kMaxKinds) io.fail();
}

void GpuMetrics::on(const SelectedCycle& selected, const CycleSummary& summary) {
  const CycleTrace& cycle = selected.cycle();
  const auto known = ranks_.find(cycle.subject);
  const bool full = known == ranks_.end() && ranks_.size() == kMaxRanks;
  if (full && left_out_.add(cycle.subject)) ++dropped_;
  Rank& rank = full ? other_ : known == ranks_.end() ? ranks_[cycle.subject] : known->second;
  rank.add(summary);
  const LaunchedActivities launched(cycle, selected.rows());
  launched.for_each([&](const LaunchedActivity& activity) {
    const std::int64_t delay = activity.first_start_ns - cycle.launches[activity.launch].end_ns();
    rank.launch_delay.observe(seconds(std::max<std::int64_t>(delay, 0)));
  });
  if (full) return;
  rank.longest_queue = longest_queue(selected);
  rank.bytes_per_second.clear();
  for (const CopyBandwidth& copies : memory_bandwidth(cycle, selected.rows())) {
    const double mean = mean_bytes_per_second(copies);
    if (mean > 0 && rank.bytes_per_second.size() < kMaxKinds)
      rank.bytes_per_second[copies.kind] = mean;
  }
}

void GpuMetrics::collect_ratios(std::vector<MetricFamily>& out) const {
  MetricFamily busy = family(
      "trainwatch_gpu_busy_ratio",
      "Share of the latest profiler cycle in which the GPU was busy, 0 to 1.", MetricType::gauge);
  MetricFamily overlap =
      family("trainwatch_comm_comp_overlap_ratio",
             "Share of communication hidden behind computation, latest profiler cycle, 0 to 1.",
             MetricType::gauge);
  MetricFamily wait =
      family("trainwatch_data_wait_ratio",
             "Share of the steps of the latest profiler cycle spent waiting for data, 0 to 1.",
             MetricType::gauge);
  for (const auto& [subject, rank] : ranks_) {
    const Labels own = labels_of(interner_, subject);
    const auto add = [&own](MetricFamily& to, std::int64_t part, std::int64_t whole) {
      if (whole > 0) to.points.push_back({own, ratio(part, whole), {}, 0});
    };
    add(busy, rank.busy_ns, rank.window_ns);
    add(overlap, rank.overlapped_ns, rank.cycle_communication_ns);
    add(wait, rank.data_wait_ns, rank.step_ns);
  }
  for (MetricFamily* made : {&busy, &overlap, &wait}) out.push_back(std::move(*made));
}

void GpuMetrics::collect_totals(std::vector<MetricFamily>& out) const {
  MetricFamily idle = family("trainwatch_gpu_idle_seconds_total",
                             "GPU idle time in profiler cycles, by cause.", MetricType::counter);
  MetricFamily time = family("trainwatch_gpu_time_seconds_total",
                             "GPU time in profiler cycles, by kind of activity; kinds overlap.",
                             MetricType::counter);
  const auto add = [&](const Labels& own, const Rank& rank) {
    for (std::size_t i = 0; i < kIdleCauses; ++i) {
      idle.points.push_back({with(own, "cause", kCauses[i]), seconds(rank.idle_ns[i]), {}, 0});
    }
    const auto add_time = [&](std::string_view kind, std::int64_t ns) {
      time.points.push_back({with(own, "kind", kind), seconds(ns), {}, 0});
    };
    add_time("computation", rank.computation_ns);
    add_time("communication", rank.communication_ns);
    add_time("memory", rank.memory_ns);
  };
  for (const auto& [subject, rank] : ranks_) add(labels_of(interner_, subject), rank);
  if (other_.window_ns > 0) add({{"train_job", kOther}}, other_);
  out.push_back(std::move(idle));
  out.push_back(std::move(time));
}

void GpuMetrics::collect_bandwidth(std::vector<MetricFamily>& out) const {
  MetricFamily bandwidth =
      family("trainwatch_gpu_copy_bytes_per_second",
             "Mean bandwidth while copies or fills run, by kind, latest profiler cycle.",
             MetricType::gauge);
  for (const auto& [subject, rank] : ranks_) {
    const Labels own = labels_of(interner_, subject);
    for (const auto& [kind, mean] : rank.bytes_per_second)
      bandwidth.points.push_back({with(own, "kind", kind), mean, {}, 0});
  }
  out.push_back(std::move(bandwidth));
}

void GpuMetrics::collect_launches(const MetricsView& view, std::vector<MetricFamily>& out) const {
  const HistogramBounds bounds = LaunchHistogram::bounds(view.cardinality);
  MetricFamily delay =
      bounds.family("trainwatch_kernel_launch_delay_seconds",
                    "From the end of the launching call to the start of the GPU activity.");
  MetricFamily queue =
      family("trainwatch_gpu_queue_length_max",
             "Longest launch queue of a stream, latest profiler cycle.", MetricType::gauge);
  for (const auto& [subject, rank] : ranks_) {
    const Labels own = labels_of(interner_, subject);
    delay.points.push_back(rank.launch_delay.point(own, bounds));
    queue.points.push_back({own, static_cast<double>(rank.longest_queue), {}, 0});
  }
  out.push_back(std::move(delay));
  out.push_back(std::move(queue));
}

void GpuMetrics::collect(const MetricsView& view, std::vector<MetricFamily>& out) const {
  collect_ratios(out);
  collect_totals(out);
  collect_launches(view, out);
  collect_bandwidth(out);
}

void GpuMetrics::state(StateIo& io) {
  io(ranks_);
  io(other_);
  if (ranks_.size() > kMaxRanks) io.fail();
  for (const auto& [subject, rank] : ranks_) {
    if (!is_known(interner_, subject)) io.fail();
  }
}

}  // namespace trainwatch
