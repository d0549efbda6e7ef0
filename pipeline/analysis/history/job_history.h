// SPDX-License-Identifier: Apache-2.0
// What one job did over time, as the page and the report draw it: its iterations, each rank, its
// cores and GPUs, the scalars that it logs, and what happened at one time. Alerts do not depend on
// it.
//
// Bounded: the last kRecent intervals of a second and of 16 s, and the whole job in at most kWhole
// intervals; ranks, devices, marks and single steps up to the constants below.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/analysis/history/lost_interval.h"
#include "pipeline/analysis/history/scalar_history.h"
#include "pipeline/analysis/history/slot_columns.h"
#include "pipeline/analysis/history/step_column.h"
#include "pipeline/analysis/history/step_log.h"
#include "pipeline/analysis/history/time_columns.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/scalar.h"
#include "trainwatch/state_rows.h"
#include "trainwatch/subject_map.h"

namespace trainwatch {

// Something that a chart marks.
struct HistoryMark {
  enum class Kind : std::uint8_t { evaluation, checkpoint, attempt, count_ };
  Kind kind = Kind::evaluation;
  Time start{};
  Time end{};

  void state(StateIo& io) {
    io(kind);
    io(start);
    io(end);
    if (kind >= Kind::count_ || !is_possible(start) || end < start) io.fail();
  }
};

std::string_view to_string(HistoryMark::Kind kind);

// The resources of which a history is kept, and their names in the API.
inline constexpr std::pair<Resource, std::string_view> kHistoryResources[] = {
    {Resource::cpu_utilization, "cpu"},
    {Resource::gpu_utilization, "gpu"},
    {Resource::gpu_memory_utilization, "gpu_memory"},
    {Resource::cpu_io_wait, "io_wait"},
};
inline constexpr std::size_t kHistoryKinds = std::size(kHistoryResources);

// Its index there; kHistoryKinds: it has none.
constexpr std::size_t history_kind(Resource resource) {
  std::size_t kind = 0;
  while (kind < kHistoryKinds && kHistoryResources[kind].first != resource) ++kind;
  return kind;
}

class JobHistory {
 public:
  static constexpr std::size_t kRecent = 512;
  static constexpr std::size_t kWhole = 1024;
  static constexpr std::size_t kMapColumns = 256;  // of ranks, and of devices
  static constexpr std::size_t kMostRanks = 512;
  static constexpr std::size_t kMostSeries = 1024;
  static constexpr std::size_t kMostMarks = 512;
  static constexpr std::size_t kBins = 20;  // of percents
  // A time that is farther from all others is a mistake, and would leave the job one column.
  static constexpr Nanos kFarthest = std::chrono::hours(24 * 366);
  static constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);

  using Steps = TimeColumns<StepColumn>;
  // Of each rank: seconds per iteration, and seconds that it lost.
  struct RankColumn {
    SlotColumn iterations;
    std::vector<float> lost;  // by slot

    void lose(std::size_t slot, double seconds) {
      if (slot >= lost.size()) lost.resize(slot + 1);
      lost[slot] += static_cast<float>(seconds);
    }
    void merge(const RankColumn& other) {
      iterations.merge(other.iterations);
      for (std::size_t slot = 0; slot < other.lost.size(); ++slot)
        lose(slot, static_cast<double>(other.lost[slot]));
    }
  };
  using Percents = std::array<std::uint64_t, kBins>;  // samples in [0, 5), [5, 10), …

  // A step of the training, with its waits. `most` single steps are kept.
  void on(const Step& step, std::size_t most);
  void on_load(const Span& load);
  void on_checkpoint(const Span& span) {
    mark({HistoryMark::Kind::checkpoint, span.start, span.end()});
  }
  void on(const LostInterval& lost);
  // The slot of a series, made if new; kNoSlot: there is no room.
  std::size_t slot_of(SeriesId series);
  // `kind` is below kHistoryKinds.
  void on(const Sample& sample, std::size_t kind, std::size_t slot);
  // One without a time of its own says nothing about when the job ran.
  void on(const Scalar& scalar) {
    if (!scalar.timed || take(scalar.at)) scalars_.on(scalar);
  }
  // At most so many points of scalars.
  void keep_scalars(std::size_t points) { scalars_.keep(points); }

  // The last one covers the whole job, and is the finest one of a short job.
  std::array<const Steps*, 3> levels() const { return {&seconds_, &quarters_, &whole_}; }
  const TimeColumns<RankColumn>& ranks() const { return ranks_; }
  const TimeColumns<SlotColumn>& usage() const { return usage_; }
  // By slot; nullopt: it is gone.
  const std::vector<std::optional<SubjectId>>& rank_slots() const { return rank_slots_; }
  const std::vector<std::optional<SeriesId>>& series_slots() const { return series_slots_; }
  const std::deque<Step>& steps() const { return log_.steps(); }
  const std::deque<HistoryMark>& marks() const { return marks_; }
  const ScalarHistory& scalars() const { return scalars_; }
  // By kind.
  const std::array<Percents, kHistoryKinds>& percents() const { return percents_; }
  // Of the first iteration, and of whatever came last but scalars without a time of their own;
  // kNoTime: nothing did.
  Time first_end() const { return first_end_; }
  Time latest() const { return latest_; }
  // For lack of room in ranks and series, and with impossible times.
  std::uint64_t dropped() const { return dropped_; }

  // Rows whose keys begin with `prefix`.
  void save(StateRows& rows, const std::string& prefix, bool all);
  // Removes the rows of a history that is no longer there.
  void remove(StateRows& rows, const std::string& prefix);
  // Only for a new history. False: a row is damaged.
  bool load(const SavedState& saved, const std::string& prefix);

 private:
  std::size_t rank_slot(SubjectId rank);
  void mark(const HistoryMark& mark);
  bool take(Time time);
  void slots_state(StateIo& io);
  void totals_state(StateIo& io);

  Steps seconds_{Steps::Keeps::latest, std::chrono::seconds(1), kRecent};
  Steps quarters_{Steps::Keeps::latest, std::chrono::seconds(16), kRecent};
  Steps whole_{Steps::Keeps::everything, std::chrono::seconds(1), kWhole};
  TimeColumns<RankColumn> ranks_{TimeColumns<RankColumn>::Keeps::everything,
                                 std::chrono::seconds(1), kMapColumns};
  TimeColumns<SlotColumn> usage_{TimeColumns<SlotColumn>::Keeps::everything,
                                 std::chrono::seconds(1), kMapColumns};
  std::vector<std::optional<SubjectId>> rank_slots_;
  SubjectMap<std::size_t> slots_by_rank_;
  std::vector<std::optional<SeriesId>> series_slots_;
  std::deque<HistoryMark> marks_;  // the last ones
  std::array<Percents, kHistoryKinds> percents_{};
  Origin origin_ = Origin::log;  // of the steps that count: the best that there is
  Time first_end_ = kNoTime;
  Time latest_ = kNoTime;
  std::uint64_t dropped_ = 0;
  StepLog log_;
  ScalarHistory scalars_;
  bool slots_changed_ = true;  // or marks; a new history has a row, too
};

}  // namespace trainwatch
