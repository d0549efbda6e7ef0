// SPDX-License-Identifier: Apache-2.0
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

void TrainingMetrics::Rank::state(StateIo& io) {
  io(steps);
  io(phases);
  io(getnext);
  io(batches);
  io(workers);
  if (!steps.empty() && steps.rbegin()->first >= Mode::count_) io.fail();
  if (!phases.empty() && phases.rbegin()->first >= SpanKind::count_) io.fail();
}

bool TrainingMetrics::take_room(Family& family, SubjectId subject, std::size_t kind) {
  if (family.series < kMaxSeries) {
    ++family.series;
    return true;
  }
  if (family.left_out.add(subject, kind)) ++dropped_;
  return false;
}

TrainingMetrics::Rank& TrainingMetrics::changing(SubjectId subject) {
  auto& entry = ranks_.entry(subject);
  changed_.add(entry);
  return entry.second;
}

template <class Value>
Value* TrainingMetrics::in(Family& family, std::optional<Value> Rank::*member, SubjectId subject) {
  const Rank* const known = ranks_.find(subject);
  const bool is_new = known == nullptr || !(known->*member);
  if (is_new && !take_room(family, subject)) return nullptr;
  std::optional<Value>& value = changing(subject).*member;
  return is_new ? &value.emplace() : &*value;
}

template <class Kind, class Value>
Value* TrainingMetrics::in(Family& family, std::map<Kind, Value> Rank::*member, SubjectId subject,
                           Kind kind) {
  if (Rank* const rank = ranks_.find(subject)) {
    const auto known = (rank->*member).find(kind);
    if (known != (rank->*member).end()) {
      changing(subject);
      return &known->second;
    }
  }
  const std::size_t kind_number = static_cast<std::size_t>(kind) % 16;
  if (!take_room(family, subject, kind_number)) return nullptr;
  return &(changing(subject).*member)[kind];
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
    DurationHistogram* phase = in(phases_, &Rank::phases, span.subject, span.kind);
    if (phase == nullptr) phase = &other(other_phases_[span.kind]);
    phase->observe(seconds, span.step, span.end());
  }
  if (span.kind == SpanKind::data_wait) {
    WaitHistogram* waits = in(getnext_, &Rank::getnext, span.subject);
    if (waits == nullptr) waits = &other(other_getnext_);
    waits->observe(seconds, span.step, span.end());
  }
  const bool by_worker = span.kind == SpanKind::data_worker || span.kind == SpanKind::data_wait;
  if (!by_worker || span.worker == kNoWorker) return;
  Workers* const workers = in(workers_, &Rank::workers, span.subject);
  if (workers != nullptr && workers->size() < kMaxWorkers) (*workers)[span.worker] = 1;
}

void TrainingMetrics::on(const Step& step) {
  // A job that reports its steps itself is not counted a second time from its profiler traces or
  // its log.
  const SubjectId job = job_ids_.of(step.subject);
  if (step.origin == Origin::timeline && with_timeline_.insert(job).second) others_changed_ = true;
  if (step.origin != Origin::timeline && with_timeline_.contains(job)) return;
  Steps* steps = in(steps_, &Rank::steps, step.subject, step.mode);
  if (steps == nullptr) steps = &other(other_steps_[step.mode]);
  steps->duration.observe(to_seconds(step.duration), step.number, step.end());
  steps->last = std::max(steps->last, step.end());
  steps->count += step.steps;
  if (step.origin == Origin::log) return;  // nothing is known of single batches
  BatchTimes* batches = in(batches_, &Rank::batches, step.subject);
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
  for (const auto& [subject, rank] : ranks_) {
    for (const auto& [mode, steps] : rank.steps) add(interner_.subjects[subject], mode, steps);
  }
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
  for (const auto& [subject, rank] : ranks_) {
    for (const auto& [kind, phase_of] : rank.phases)
      add(interner_.subjects[subject], kind, phase_of);
  }
  for (const auto& [kind, histogram] : other_phases_) add(kOthers, kind, histogram);
  out.push_back(std::move(phase));
}

void TrainingMetrics::collect_data_loading(const MetricsView& view,
                                           std::vector<MetricFamily>& out) const {
  const HistogramBounds bounds = WaitHistogram::bounds(view.cardinality);
  MetricFamily getnext = bounds.family("trainwatch_getnext_duration_seconds",
                                       "Time the training loop waited for each batch.");
  MetricFamily batch = bounds.family("trainwatch_batch_time_seconds",
                                     "Time from the start of a batch to the start of the next.");
  MetricFamily workers = family("trainwatch_dataloader_workers",
                                "Distinct data-loading workers seen.", MetricType::gauge);
  for (const auto& [subject, rank] : ranks_) {
    const Subject& of = interner_.subjects[subject];
    const auto add = [&](MetricFamily& to, const WaitHistogram& times) {
      to.points.push_back(times.point(labels_of(of), bounds, view.alerted, of));
    };
    if (rank.getnext) add(getnext, *rank.getnext);
    if (rank.batches) add(batch, rank.batches->between);
    if (rank.workers) {
      workers.points.push_back({labels_of(of), static_cast<double>(rank.workers->size()), {}, 0});
    }
  }
  if (other_getnext_.count() > 0) {
    getnext.points.push_back(other_getnext_.point(labels_of(kOthers), bounds));
  }
  for (MetricFamily* made : {&getnext, &batch, &workers}) out.push_back(std::move(*made));
}

void TrainingMetrics::collect(const MetricsView& view, std::vector<MetricFamily>& out) const {
  collect_steps(view, out);
  collect_phases(view, out);
  collect_data_loading(view, out);
}

void TrainingMetrics::count_series() {
  for (const auto& [subject, rank] : ranks_) {
    steps_.series += rank.steps.size();
    phases_.series += rank.phases.size();
    getnext_.series += rank.getnext ? 1 : 0;
    batches_.series += rank.batches ? 1 : 0;
    workers_.series += rank.workers ? 1 : 0;
  }
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
  changed_.take(ranks_, all, [&rows](auto& entry) {
    rows.put(id_row(kMetricRankRows, entry.first), [&entry](StateIo& io) { io(entry.second); });
  });
}

bool TrainingMetrics::load(const SavedState& saved) {
  const auto load_rank = [&](std::string_view digits, std::string_view value) {
    const auto rank = saved.subject(digits);
    if (!rank) return true;
    StateIo io = saved.open(value);
    io(ranks_[*rank]);
    return io.complete();
  };
  const bool loaded =
      load_row(saved, kMetricOthersRow, [this](StateIo& io) { others_state(io); }) &&
      for_rows(saved, kMetricRankRows, load_rank);
  count_series();
  return loaded;
}

}  // namespace trainwatch
