#include "pipeline/analysis/core/training_metrics.h"

#include <algorithm>
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

}  // namespace

template <class Map, class Key>
typename Map::mapped_type* TrainingMetrics::entry(Map& map, const Key& key) {
  changed_ = true;
  if (const auto known = map.find(key); known != map.end()) return &known->second;
  if (map.size() >= kMaxSeries) {
    ++dropped_;
    return nullptr;
  }
  return &map[key];
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

void TrainingMetrics::collect(std::vector<MetricFamily>& out) const {
  collect_steps(out);
  collect_data_loading(out);
}

void TrainingMetrics::state(StateIo& io) {
  io(steps_);
  io(phases_);
  io(getnext_);
  io(batches_);
  io(workers_);
  io(dropped_);
  io(timeline_seen_);
  for (const auto& [key, steps] : steps_) {
    if (key.second >= Mode::count_) io.fail();
  }
}

}  // namespace trainwatch
