// The numbers about the training job that /metrics shows: steps, phases, data loading, and the last
// value of every system series. Rules do not read them; alerts do not depend on them.
//
// Labels are only train_job, node, rank and closed sets (mode, phase, resource, device), never text
// taken from a file without a cap: each family holds at most `kMaxSeries` series.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/analysis/core/metric_families.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

class TrainingMetrics {
 public:
  static constexpr std::size_t kMaxSeries = 2000;

  explicit TrainingMetrics(const Interner& interner) : interner_(interner) {}

  void on(const Sample& sample) {
    const auto index = static_cast<std::size_t>(sample.series);
    if (index >= last_.size()) add_series(index + 1);
    last_[index] = sample.value;
  }
  void on(const Span& span);
  void on(const Step& step);

  // Appends the families; cost is proportional to the number of series.
  void collect(std::vector<MetricFamily>& out) const;

  std::uint64_t series_dropped() const { return dropped_; }

  void state(StateIo& io);

 private:
  struct Steps {
    Histogram duration;
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
    Histogram between;
    void state(StateIo& io) {
      io(previous_start);
      io(between);
    }
  };

  // Knows the first `count` series from now on; those that no longer fit their family are counted.
  void add_series(std::size_t count);
  // The entry of `key`, or null when the family is full.
  template <class Map, class Key>
  typename Map::mapped_type* entry(Map& map, const Key& key);

  void collect_steps(std::vector<MetricFamily>& out) const;
  void collect_data_loading(std::vector<MetricFamily>& out) const;
  void collect_system(std::vector<MetricFamily>& out) const;

  const Interner& interner_;
  std::map<std::pair<SubjectId, Mode>, Steps> steps_;
  std::map<std::pair<SubjectId, SpanKind>, Histogram> phases_;
  std::map<SubjectId, Histogram> getnext_;
  std::map<SubjectId, Batches> batches_;
  std::map<SubjectId, std::map<std::int32_t, std::uint8_t>> workers_;
  std::vector<double> last_;                              // by SeriesId
  std::map<std::string_view, std::size_t> family_sizes_;  // of the families of system metrics
  std::uint64_t dropped_ = 0;
  bool timeline_seen_ = false;
};

}  // namespace trainwatch
