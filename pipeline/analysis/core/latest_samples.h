// SPDX-License-Identifier: Apache-2.0
// The last value of every system series, as /metrics shows it. Rules do not read it.
//
// Labels are only train_job, node, rank, device and closed sets. Each family has at most
// `kMaxSeries` series: those that were sampled first.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "pipeline/analysis/core/metric_families.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class LatestSamples {
 public:
  explicit LatestSamples(const Interner& interner) : interner_(interner) {}

  void on(const Sample& sample) {
    const auto index = static_cast<std::size_t>(sample.series);
    if (index >= places_.size()) add_series(index + 1);
    if (places_[index] == kNotShown) return;
    shown_[places_[index]].value = sample.value;
    shown_[places_[index]].silent_seconds = 0;
    changed_ = true;
  }

  // A second of processing time is over. Only a daemon calls it: a value is no longer shown when
  // its series has been silent for kPatience.
  // True: a series is silent from now on.
  bool second_passed();
  static constexpr std::uint16_t kPatience = 300;  // seconds: what Prometheus takes for stale, too

  // Appends the families; cost is proportional to the number of series. At the lowest level ratios
  // are means over the devices of a node.
  void collect(const MetricsView& view, std::vector<MetricFamily>& out) const;

  // Series that had no room in their family.
  std::uint64_t series_dropped() const { return dropped_; }

  // Puts what changed since the last call; `all`: everything.
  void save(StateRows& rows, bool all);
  bool load(const SavedState& saved);

 private:
  static constexpr std::uint32_t kNotShown = 0xFFFFFFFF;

  struct Shown {
    SeriesId series{};
    double value = 0;  // NaN: not sampled since there is room for it
    std::uint8_t metric = 0;
    std::uint16_t silent_seconds = 0;  // not saved

    void state(StateIo& io) {
      io(series);
      io(value);
    }
  };

  // Knows the first `count` series from now on; those that do not fit their family are counted.
  void add_series(std::size_t count);
  std::string_view device_of(const Series& series) const;
  // False: its family is full, or has a series with the same labels.
  bool show(SeriesId series, std::uint8_t metric, double value);
  // After a load; `known` is how many series were. False: that cannot be.
  bool restore(const std::vector<Shown>& shown, std::size_t known);
  void state(StateIo& io);

  const Interner& interner_;
  std::vector<Shown> shown_;
  std::vector<std::uint32_t> places_;                     // in it, or kNotShown; by SeriesId
  std::map<std::string_view, std::size_t> family_sizes_;  // how many are shown
  // Hashes of the labels that are shown, sorted, by metric: files may spell one device in two ways.
  std::map<std::uint8_t, std::vector<std::uint64_t>> labels_;
  std::uint64_t dropped_ = 0;
  bool changed_ = false;
};

}  // namespace trainwatch
