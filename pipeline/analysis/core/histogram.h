// SPDX-License-Identifier: Apache-2.0
// A Prometheus histogram, from which /metrics shows classic buckets, those of a native histogram,
// or classic buckets as fine as these.
//
// Values are kept in cells: what falls into one classic and one native bucket. There are at most
// kMostCells; when they are used up, native buckets become twice as wide. Counts stop at their
// greatest value, and the sum stays finite and does not drift.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/analysis/core/alerted_steps.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/compensated_sum.h"
#include "trainwatch/stats/exponential_buckets.h"

namespace trainwatch {

// How much /metrics shows. docs/metrics.md says what each level has.
enum class Cardinality : std::uint8_t { low, normal, full };

class HistogramCells {
 public:
  static constexpr std::size_t kMostCells = 160;

  // `bucket`: the classic one, which must not fall as the value rises.
  void add(double value, std::size_t bucket);

  const std::vector<HistogramCell>& cells() const { return cells_; }
  int schema() const { return schema_; }
  std::uint64_t count() const;

  void state(StateIo& io);
  // Of a loaded one: whether the buckets fit into so many.
  bool fits(std::size_t buckets) const;

 private:
  void coarsen();

  std::vector<HistogramCell> cells_;  // by native and classic bucket
  std::int8_t schema_ = exponential_buckets::kFinest;
};

// The latest observations that are worth a look: the latest of each of the highest classic buckets
// that something fell into in the last five minutes.
class NotableObservations {
 public:
  static constexpr std::size_t kMost = 4;
  static constexpr Nanos kRecent = std::chrono::minutes(5);

  struct Observation {
    double value = 0;
    Time at{};
    std::int64_t step = kNoStep;
    std::uint64_t bucket = 0;
  };

  void saw(const Observation& observation);
  const std::vector<Observation>& all() const { return kept_; }
  void state(StateIo& io);

 private:
  std::vector<Observation> kept_;
};

// The bounds with which a histogram is shown at a level.
class HistogramBounds {
 public:
  // `bounds` are those that the histogram counts by; must outlive the object.
  HistogramBounds(std::span<const double> bounds, Cardinality cardinality);

  MetricFamily family(std::string_view name, std::string_view help) const;
  // As it is shown in that family.
  std::shared_ptr<MetricDetails> details(const HistogramCells& cells,
                                         const NotableObservations& notable) const;

 private:
  std::uint16_t shown_bucket(const HistogramCell& cell, int schema) const;

  std::vector<double> shown_;
  std::vector<std::uint16_t> bucket_;  // by that of the histogram; unless native
  std::optional<std::int16_t> first_native_;
};

template <const auto& Bounds>
class BasicHistogram {
 public:
  // A value that is not finite, or that the sum cannot take, is not counted.
  void observe(double seconds) { count(seconds); }
  // The same of something that happened in a step, and ended at `at`.
  void observe(double seconds, std::int64_t step, Time at) {
    if (const auto bucket = count(seconds); bucket && step != kNoStep)
      notable_.saw({seconds, at, step, *bucket});
  }

  static HistogramBounds bounds(Cardinality cardinality) { return {Bounds, cardinality}; }
  // Of a family with these bounds.
  MetricPoint point(Labels labels, const HistogramBounds& bounds) const {
    return {std::move(labels), 0, bounds.details(cells_, notable_), sum_.value()};
  }
  // The same with the alerts about the steps of `rank`.
  MetricPoint point(Labels labels, const HistogramBounds& bounds, const AlertedSteps& alerted,
                    const Subject& rank) const {
    const auto details = bounds.details(cells_, notable_);
    for (Exemplar& exemplar : details->exemplars) exemplar.alert = alerted.of(rank, exemplar.step);
    return {std::move(labels), 0, details, sum_.value()};
  }
  std::uint64_t count() const { return cells_.count(); }

  void state(StateIo& io) {
    io(cells_);
    io(sum_);
    io(notable_);
    if (!cells_.fits(Bounds.size() + 1)) io.fail();
  }

 private:
  std::optional<std::size_t> count(double seconds) {
    if (!sum_.add(seconds)) return std::nullopt;
    const auto bound = std::lower_bound(Bounds.begin(), Bounds.end(), seconds);
    const auto bucket = static_cast<std::size_t>(bound - Bounds.begin());
    cells_.add(seconds, bucket);
    return bucket;
  }

  HistogramCells cells_;
  CompensatedSum sum_;
  NotableObservations notable_;
};

// Seconds. Training steps and their phases span 1 ms to 10 min; most lie between 10 ms and 10 s,
// where a bucket is a quarter wider than the one before.
inline constexpr std::array kStepBounds = {
    0.001, 0.0025, 0.005, 0.01, 0.0125, 0.016, 0.02, 0.025, 0.0315, 0.04, 0.05,  0.063, 0.08,
    0.1,   0.125,  0.16,  0.2,  0.25,   0.315, 0.4,  0.5,   0.63,   0.8,  1.0,   1.25,  1.6,
    2.0,   2.5,    3.15,  4.0,  5.0,    6.3,   8.0,  10.0,  25.0,   50.0, 100.0, 250.0, 600.0};
// 1-2.5-5 per decade, from 1 ms to 10 min.
inline constexpr std::array kWaitBounds = {0.001, 0.0025, 0.005, 0.01,  0.025, 0.05,
                                           0.1,   0.25,   0.5,   1.0,   2.5,   5.0,
                                           10.0,  25.0,   50.0,  100.0, 250.0, 600.0};
// The same from 1 us to 1 s: from the launch of a kernel to its start.
inline constexpr std::array kLaunchBounds = {1e-6,   2.5e-6, 5e-6, 1e-5,   2.5e-5, 5e-5, 1e-4,
                                             2.5e-4, 5e-4,   1e-3, 2.5e-3, 5e-3,   1e-2, 2.5e-2,
                                             5e-2,   0.1,    0.25, 0.5,    1.0};

using DurationHistogram = BasicHistogram<kStepBounds>;
using WaitHistogram = BasicHistogram<kWaitBounds>;
using LaunchHistogram = BasicHistogram<kLaunchBounds>;

}  // namespace trainwatch
