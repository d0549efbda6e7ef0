#include "pipeline/analysis/core/training_metrics.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "pipeline/analysis/core/metric_families.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxWorkers = 1024;
const Subject kOthers{std::string(kOther), "", kNoRank, ""};

constexpr std::string_view kMetricOthersRow = "metrics";
constexpr std::string_view kMetricRankRows = "metrics/";

// The entries of one rank in a map whose keys begin with it.
template <class Map, class Second>
void rank_entries_state(StateIo& io, Map& map, SubjectId rank, Second end) {
  auto entry = map.lower_bound({rank, Second{}});
  std::uint32_t count = 0;
  for (auto it = entry; it != map.end() && it->first.first == rank; ++it) ++count;
  io(count);
  for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
    Second second = io.is_loading() ? Second{} : entry->first.second;
    io(second);
    if (second >= end) io.fail();
    if (!io.ok()) return;
    io(io.is_loading() ? map[{rank, second}] : entry->second);
    if (!io.is_loading()) ++entry;
  }
}

template <class Map>
void rank_entry_state(StateIo& io, Map& map, SubjectId rank) {
  bool known = map.contains(rank);
  io(known);
  if (known) io(map[rank]);
}

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

template <class Map>
typename Map::mapped_type* TrainingMetrics::entry(Map& map, LeftOut& left_out,
                                                  const typename Map::key_type& key) {
  changed_.add(subject_of(key));
  if (const auto known = map.find(key); known != map.end()) return &known->second;
  if (map.size() < kMaxSeries) return &map[key];
  if constexpr (std::is_same_v<typename Map::key_type, SubjectId>) {
    if (left_out.add(key)) ++dropped_;
  } else if (left_out.add(key.first, static_cast<std::size_t>(key.second) % 16)) {
    ++dropped_;
  }
  return nullptr;
}

// Of what has no room in its family.
template <class Value>
Value& TrainingMetrics::other(Value& value) {
  others_changed_ = true;
  return value;
}

void TrainingMetrics::on(const Span& span) {
  const double seconds = to_seconds(span.duration);
  if (!phase_label(span.kind).empty()) {
    DurationHistogram* phase = entry(phases_, left_out_phases_, {span.subject, span.kind});
    if (phase == nullptr) phase = &other(other_phases_[span.kind]);
    phase->observe(seconds, span.step, span.end());
  }
  if (span.kind == SpanKind::data_wait) {
    WaitHistogram* waits = entry(getnext_, left_out_getnext_, span.subject);
    if (waits == nullptr) waits = &other(other_getnext_);
    waits->observe(seconds, span.step, span.end());
  }
  const bool by_worker = span.kind == SpanKind::data_worker || span.kind == SpanKind::data_wait;
  if (!by_worker || span.worker == kNoWorker) return;
  auto* const workers = entry(workers_, left_out_workers_, span.subject);
  if (workers != nullptr && workers->size() < kMaxWorkers) (*workers)[span.worker] = 1;
}

void TrainingMetrics::on(const Step& step) {
  // A job that reports its steps itself is not counted a second time from its profiler traces or
  // its log.
  const SubjectId job = job_ids_.of(step.subject);
  if (step.origin == Origin::timeline && with_timeline_.insert(job).second) others_changed_ = true;
  if (step.origin != Origin::timeline && with_timeline_.contains(job)) return;
  Steps* steps = entry(steps_, left_out_steps_, {step.subject, step.mode});
  if (steps == nullptr) steps = &other(other_steps_[step.mode]);
  steps->duration.observe(to_seconds(step.duration), step.number, step.end());
  steps->last = std::max(steps->last, step.end());
  steps->count += step.steps;
  if (step.origin == Origin::log) return;  // nothing is known of single batches
  Batches* batches = entry(batches_, left_out_batches_, step.subject);
  if (batches == nullptr) return;
  if (batches->previous_start != kNoTime && step.start > batches->previous_start) {
    batches->between.observe(to_seconds(step.start - batches->previous_start),
                             batches->previous_step, step.start);
  }
  batches->previous_start = step.start;
  batches->previous_step = step.number;
}

void TrainingMetrics::collect_steps(const MetricsView& view, std::vector<MetricFamily>& out) const {
  const HistogramBounds bounds = DurationHistogram::bounds(view.cardinality);
  MetricFamily duration =
      bounds.family("trainwatch_step_duration_seconds", "Duration of training steps.");
  MetricFamily total =
      family("trainwatch_steps_total", "Training steps seen.", MetricType::counter);
  MetricFamily last = family("trainwatch_last_step_timestamp_seconds",
                             "Unix time at which the latest step ended.", MetricType::gauge);
  const auto add = [&](const Subject& rank, Mode mode, const Steps& steps) {
    const Labels own = with(labels_of(rank), "mode", to_string(mode));
    duration.points.push_back(steps.duration.point(own, bounds, view.alerted, rank));
    total.points.push_back({own, static_cast<double>(steps.count), {}, 0});
    last.points.push_back({own, to_seconds(steps.last), {}, 0});
  };
  for (const auto& [key, steps] : steps_) add(interner_.subjects[key.first], key.second, steps);
  for (const auto& [mode, steps] : other_steps_) add(kOthers, mode, steps);
  for (MetricFamily* made : {&duration, &total, &last}) out.push_back(std::move(*made));
}

void TrainingMetrics::collect_phases(const MetricsView& view,
                                     std::vector<MetricFamily>& out) const {
  const HistogramBounds bounds = DurationHistogram::bounds(view.cardinality);
  MetricFamily phase =
      bounds.family("trainwatch_step_phase_seconds", "Duration of the phases of a step.");
  const auto add = [&](const Subject& rank, SpanKind kind, const DurationHistogram& histogram) {
    Labels own = with(labels_of(rank), "phase", phase_label(kind));
    phase.points.push_back(histogram.point(std::move(own), bounds, view.alerted, rank));
  };
  for (const auto& [key, histogram] : phases_) {
    add(interner_.subjects[key.first], key.second, histogram);
  }
  for (const auto& [kind, histogram] : other_phases_) add(kOthers, kind, histogram);
  out.push_back(std::move(phase));
}

void TrainingMetrics::collect_data_loading(const MetricsView& view,
                                           std::vector<MetricFamily>& out) const {
  const HistogramBounds bounds = WaitHistogram::bounds(view.cardinality);
  MetricFamily getnext = bounds.family("trainwatch_getnext_duration_seconds",
                                       "Time the training loop waited for each batch.");
  for (const auto& [subject, histogram] : getnext_) {
    const Subject& rank = interner_.subjects[subject];
    getnext.points.push_back(histogram.point(labels_of(rank), bounds, view.alerted, rank));
  }
  if (other_getnext_.count() > 0) {
    getnext.points.push_back(other_getnext_.point(labels_of(kOthers), bounds));
  }
  MetricFamily batch = bounds.family("trainwatch_batch_time_seconds",
                                     "Time from the start of a batch to the start of the next.");
  for (const auto& [subject, batches] : batches_) {
    const Subject& rank = interner_.subjects[subject];
    batch.points.push_back(batches.between.point(labels_of(rank), bounds, view.alerted, rank));
  }
  MetricFamily workers = family("trainwatch_dataloader_workers",
                                "Distinct data-loading workers seen.", MetricType::gauge);
  for (const auto& [subject, seen] : workers_) {
    workers.points.push_back(
        {labels_of(interner_, subject), static_cast<double>(seen.size()), {}, 0});
  }
  for (MetricFamily* made : {&getnext, &batch, &workers}) out.push_back(std::move(*made));
}

void TrainingMetrics::collect(const MetricsView& view, std::vector<MetricFamily>& out) const {
  collect_steps(view, out);
  collect_phases(view, out);
  collect_data_loading(view, out);
}

std::set<SubjectId> TrainingMetrics::ranks() const {
  std::set<SubjectId> found;
  const auto add = [&found](const auto& map) {
    for (const auto& [key, value] : map) found.insert(subject_of(key));
  };
  add(steps_);
  add(phases_);
  add(getnext_);
  add(batches_);
  add(workers_);
  return found;
}

void TrainingMetrics::rank_state(StateIo& io, SubjectId rank) {
  rank_entries_state(io, steps_, rank, Mode::count_);
  rank_entries_state(io, phases_, rank, SpanKind::count_);
  rank_entry_state(io, getnext_, rank);
  rank_entry_state(io, batches_, rank);
  rank_entry_state(io, workers_, rank);
}

void TrainingMetrics::others_state(StateIo& io) {
  io(other_steps_);
  io(other_phases_);
  io(other_getnext_);
  std::vector<SubjectId> jobs(with_timeline_.begin(), with_timeline_.end());
  io(jobs);
  if (io.is_loading()) with_timeline_ = {jobs.begin(), jobs.end()};
  for (const auto& [mode, steps] : other_steps_) {
    if (mode >= Mode::count_) io.fail();
  }
}

void TrainingMetrics::save(StateRows& rows, bool all) {
  if (std::exchange(others_changed_, false) || all) {
    rows.put(std::string(kMetricOthersRow), [this](StateIo& io) { others_state(io); });
  }
  const auto put = [&](SubjectId rank) {
    rows.put(id_row(kMetricRankRows, rank), [this, rank](StateIo& io) { rank_state(io, rank); });
  };
  changed_.take([&](SubjectId rank) {
    if (!all) put(rank);
  });
  if (!all) return;
  for (const SubjectId rank : ranks()) put(rank);
}

bool TrainingMetrics::load(const SavedState& saved) {
  const auto load_rank = [&](std::string_view digits, std::string_view value) {
    const auto rank = saved.subject(digits);
    if (!rank) return true;
    StateIo io = saved.open(value);
    rank_state(io, *rank);
    return io.complete();
  };
  return load_row(saved, kMetricOthersRow, [this](StateIo& io) { others_state(io); }) &&
         for_rows(saved, kMetricRankRows, load_rank);
}

}  // namespace trainwatch
