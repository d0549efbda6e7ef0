// SPDX-License-Identifier: Apache-2.0
// The numbers about the training job that /metrics shows: steps, phases, data loading. Rules do not
// read them; alerts do not depend on them.
//
// Labels are only train_job, node, rank and closed sets (mode, phase), never text taken from a file
// without a cap: each family holds at most `kMaxSeries` series, and the others are summed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "pipeline/analysis/core/metric_families.h"
#include "pipeline/analysis/job_ids.h"
#include "trainwatch/changed_entries.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/state_rows.h"
#include "trainwatch/subject_map.h"

namespace trainwatch {

// The time from one batch of a rank to its next.
struct BatchTimes {
  Time previous_start = kNoTime;
  std::int64_t previous_step = kNoStep;
  WaitHistogram between;
};

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
  };

  using Workers = std::map<std::int32_t, std::uint8_t>;
  struct Rank {
    std::map<Mode, Steps> steps;
    std::map<SpanKind, DurationHistogram> phases;
    std::optional<WaitHistogram> getnext;
    std::optional<BatchTimes> batches;
    std::optional<Workers> workers;
    bool changed = false;  // since it was last saved
    void state(StateIo& io);
  };
  // The series of a family, of all ranks.
  struct Family {
    std::size_t series = 0;
    LeftOut left_out;  // since the start; which they were is not saved
  };

  // The value of a rank, made if it is new; null when the family is full.
  template <class Value>
  Value* in(Family& family, std::optional<Value> Rank::*member, SubjectId subject);
  template <class Kind, class Value>
  Value* in(Family& family, std::map<Kind, Value> Rank::*member, SubjectId subject, Kind kind);
  // Made if it is new.
  Rank& changing(SubjectId subject);
  // Whether there is room for one more; counts it.
  bool take_room(Family& family, SubjectId subject, std::size_t kind = 0);

  template <class Value>
  Value& other(Value& value);
  void others_state(StateIo& io);
  void count_series();

  void collect_steps(const MetricsView& view, std::vector<MetricFamily>& out) const;
  void collect_phases(const MetricsView& view, std::vector<MetricFamily>& out) const;
  void collect_data_loading(const MetricsView& view, std::vector<MetricFamily>& out) const;

  const Interner& interner_;
  SubjectMap<Rank> ranks_;
  ChangedEntries<SubjectMap<Rank>> changed_;
  Family steps_, phases_, getnext_, batches_, workers_;
  // What has no room in its family, all together.
  std::map<Mode, Steps> other_steps_;
  std::map<SpanKind, DurationHistogram> other_phases_;
  WaitHistogram other_getnext_;
  std::uint64_t dropped_ = 0;
  JobIds job_ids_;
  std::set<SubjectId> with_timeline_;  // jobs
  bool others_changed_ = false;        // what is of no rank
};

}  // namespace trainwatch
