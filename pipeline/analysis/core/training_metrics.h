// The numbers about the training job that /metrics shows: steps, phases, data loading. Rules do not
// read them; alerts do not depend on them.
//
// Labels are only train_job, node, rank and closed sets (mode, phase), never text taken from a file
// without a cap: each family holds at most `kMaxSeries` series, and the others are summed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "pipeline/analysis/core/metric_families.h"
#include "pipeline/analysis/job_ids.h"
#include "trainwatch/changed_subjects.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class TrainingMetrics {
 public:
  explicit TrainingMetrics(const Interner& interner) : interner_(interner), job_ids_(interner) {}

  void on(const Span& span);
  void on(const Step& step);

  // Appends the families; cost is proportional to the number of series.
  void collect(const MetricsView& view, std::vector<MetricFamily>& out) const;

  // Series that had no room in their family.
  std::uint64_t series_dropped() const { return dropped_; }

  // Puts what changed since the last call, a row for each rank; `all`: everything.
  void save(StateRows& rows, bool all);
  // Only for a new one. False: a row is damaged.
  bool load(const SavedState& saved);

 private:
  struct Steps {
    DurationHistogram duration;
    Time last{};
    std::uint64_t count = 0;
    void state(StateIo& io) {
      io(duration);
      io(last);
      io(count);
    }
  };
  struct Batches {
    Time previous_start = kNoTime;
    std::int64_t previous_step = kNoStep;
    WaitHistogram between;
    void state(StateIo& io) {
      io(previous_start);
      io(previous_step);
      io(between);
    }
  };

  // The entry of `key`, or null when the family is full.
  template <class Map>
  typename Map::mapped_type* entry(Map& map, LeftOut& left_out, const typename Map::key_type& key);

  template <class Value>
  Value& other(Value& value);

  static SubjectId subject_of(SubjectId subject) { return subject; }
  template <class Second>
  static SubjectId subject_of(const std::pair<SubjectId, Second>& key) {
    return key.first;
  }
  std::set<SubjectId> ranks() const;
  void rank_state(StateIo& io, SubjectId rank);
  void others_state(StateIo& io);

  void collect_steps(const MetricsView& view, std::vector<MetricFamily>& out) const;
  void collect_phases(const MetricsView& view, std::vector<MetricFamily>& out) const;
  void collect_data_loading(const MetricsView& view, std::vector<MetricFamily>& out) const;

  const Interner& interner_;
  std::map<std::pair<SubjectId, Mode>, Steps> steps_;
  std::map<std::pair<SubjectId, SpanKind>, DurationHistogram> phases_;
  std::map<SubjectId, WaitHistogram> getnext_;
  std::map<SubjectId, Batches> batches_;
  std::map<SubjectId, std::map<std::int32_t, std::uint8_t>> workers_;
  // What has no room in its family, all together.
  std::map<Mode, Steps> other_steps_;
  std::map<SpanKind, DurationHistogram> other_phases_;
  WaitHistogram other_getnext_;
  // Since the start; which they were is not saved.
  LeftOut left_out_steps_, left_out_phases_, left_out_getnext_, left_out_batches_,
      left_out_workers_;
  std::uint64_t dropped_ = 0;
  JobIds job_ids_;
  std::set<SubjectId> with_timeline_;  // jobs
  ChangedSubjects changed_;
  bool others_changed_ = false;  // what is of no rank
};

}  // namespace trainwatch
