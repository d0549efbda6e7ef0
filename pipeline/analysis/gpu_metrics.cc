#include "pipeline/analysis/gpu_metrics.h"

#include <algorithm>

#include "pipeline/analysis/metric_labels.h"
#include "pipeline/analysis/names.h"
#include "pipeline/cycle/launches.h"
#include "pipeline/cycle/queue_length.h"

namespace trainwatch {
namespace {

constexpr std::array<std::string_view, kIdleCauses> kCauses = {"host_wait", "kernel_wait", "other"};

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

double ratio(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void GpuMetrics::Rank::add(const CycleMeasure& measured) {
  latest = measured;
  for (std::size_t i = 0; i < kIdleCauses; ++i) idle_ns[i] += measured.idle_ns[i];
  computation_ns += measured.computation_ns;
  communication_ns += measured.communication_ns;
  memory_ns += measured.memory_ns;
}

void GpuMetrics::Rank::state(StateIo& io) {
  io(latest);
  io(idle_ns);
  io(computation_ns);
  io(communication_ns);
  io(memory_ns);
  io(launch_delay);
  io(longest_queue);
}

void GpuMetrics::on(const CycleTrace& cycle) {
  const SelectedCycle selected(cycle, StepSelection::included);
  const DeviceRows rows = selected.rows();
  const auto known = ranks_.find(cycle.subject);
  if (known == ranks_.end() && ranks_.size() == kMaxRanks) {
    ++dropped_;
    return;
  }
  Rank& rank = known == ranks_.end() ? ranks_[cycle.subject] : known->second;
  rank.add(measure(cycle, rows));
  for (const LaunchedWork& work : launched_work(cycle, rows)) {
    const std::int64_t delay = work.first_start_ns - cycle.launches[work.launch].end_ns();
    rank.launch_delay.observe(seconds(std::max<std::int64_t>(delay, 0)));
  }
  rank.longest_queue = 0;
  for (const StreamQueue& queue : queue_length(cycle, rows)) {
    for (const QueueChange& change : queue.changes) {
      rank.longest_queue = std::max(rank.longest_queue, change.length);
    }
  }
}

void GpuMetrics::collect_ratios(std::vector<MetricFamily>& out) const {
  MetricFamily busy = family("trainwatch_gpu_busy_ratio",
                             "Share of the latest profiler cycle in which the GPU worked, 0 to 1.",
                             MetricType::gauge);
  MetricFamily overlap =
      family("trainwatch_comm_comp_overlap_ratio",
             "Share of communication hidden behind computation, latest profiler cycle, 0 to 1.",
             MetricType::gauge);
  MetricFamily wait =
      family("trainwatch_data_wait_ratio",
             "Share of the steps of the latest profiler cycle spent waiting for data, 0 to 1.",
             MetricType::gauge);
  for (const auto& [subject, rank] : ranks_) {
    const CycleMeasure& latest = rank.latest;
    const Labels own = labels_of(vocabulary_, subject);
    const auto add = [&own](MetricFamily& to, std::int64_t part, std::int64_t whole) {
      if (whole > 0) to.points.push_back({own, ratio(part, whole), {}, 0});
    };
    add(busy, latest.busy_ns, latest.window_ns);
    add(overlap, latest.overlapped_ns, latest.communication_ns);
    add(wait, latest.data_wait_ns, latest.step_ns);
  }
  for (MetricFamily* made : {&busy, &overlap, &wait}) out.push_back(std::move(*made));
}

void GpuMetrics::collect_totals(std::vector<MetricFamily>& out) const {
  MetricFamily idle = family("trainwatch_gpu_idle_seconds_total",
                             "Time in profiler cycles in which the GPU had no work, by cause.",
                             MetricType::counter);
  MetricFamily time = family("trainwatch_gpu_time_seconds_total",
                             "Time in profiler cycles with GPU work of a kind; kinds overlap.",
                             MetricType::counter);
  for (const auto& [subject, rank] : ranks_) {
    const Labels own = labels_of(vocabulary_, subject);
    for (std::size_t i = 0; i < kIdleCauses; ++i) {
      idle.points.push_back({with(own, "cause", kCauses[i]), seconds(rank.idle_ns[i]), {}, 0});
    }
    const auto add = [&](std::string_view kind, std::int64_t ns) {
      time.points.push_back({with(own, "kind", kind), seconds(ns), {}, 0});
    };
    add("computation", rank.computation_ns);
    add("communication", rank.communication_ns);
    add("memory", rank.memory_ns);
  }
  out.push_back(std::move(idle));
  out.push_back(std::move(time));
}

void GpuMetrics::collect_launches(std::vector<MetricFamily>& out) const {
  MetricFamily delay = histogram_family<BasicHistogram<kLaunchBounds>>(
      "trainwatch_kernel_launch_delay_seconds",
      "From the end of the call that launches GPU work to the start of the work.");
  MetricFamily queue = family("trainwatch_gpu_queue_length_max",
                              "Most launched work that waited on a stream, latest profiler cycle.",
                              MetricType::gauge);
  for (const auto& [subject, rank] : ranks_) {
    const Labels own = labels_of(vocabulary_, subject);
    delay.points.push_back(rank.launch_delay.point(own));
    queue.points.push_back({own, static_cast<double>(rank.longest_queue), {}, 0});
  }
  out.push_back(std::move(delay));
  out.push_back(std::move(queue));
}

void GpuMetrics::collect(std::vector<MetricFamily>& out) const {
  collect_ratios(out);
  collect_totals(out);
  collect_launches(out);
}

void GpuMetrics::state(StateIo& io) {
  io(ranks_);
  io(dropped_);
  if (ranks_.size() > kMaxRanks) io.fail();
  for (const auto& [subject, rank] : ranks_) {
    if (!is_known(vocabulary_, subject)) io.fail();
  }
}

}  // namespace trainwatch
