// What the families of metrics about the training job are made of: labels and histograms.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/interner.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/compensated_sum.h"

namespace trainwatch {

inline constexpr std::size_t kMaxSeries = 2000;  // of a family, by what it is labelled with

// Seconds, 1-2.5-5 per decade from 1 ms to 10 min: training steps span all of it.
inline constexpr std::array kStepBounds = {0.001, 0.0025, 0.005, 0.01,  0.025, 0.05,
                                           0.1,   0.25,   0.5,   1.0,   2.5,   5.0,
                                           10.0,  25.0,   50.0,  100.0, 250.0, 600.0};
// The same from 1 us to 1 s: from the launch of a kernel to its start.
inline constexpr std::array kLaunchBounds = {1e-6,   2.5e-6, 5e-6, 1e-5,   2.5e-5, 5e-5, 1e-4,
                                             2.5e-4, 5e-4,   1e-3, 2.5e-3, 5e-3,   1e-2, 2.5e-2,
                                             5e-2,   0.1,    0.25, 0.5,    1.0};

// A Prometheus histogram. Counts stop at their greatest value, and the sum stays finite and does
// not drift.
template <const auto& Bounds>
class BasicHistogram {
 public:
  static constexpr const auto& kBounds = Bounds;

  // A value that is not finite, or that the sum cannot take, is not counted.
  void observe(double seconds) {
    if (!sum_.add(seconds)) return;
    const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
    std::uint64_t& count = counts_[static_cast<std::size_t>(bucket - kBounds.begin())];
    count = sum_of(count, 1);
  }

  MetricPoint point(Labels labels) const {
    MetricPoint point{std::move(labels), 0, {}, sum_.value()};
    point.cumulative.reserve(counts_.size());
    std::uint64_t total = 0;
    for (const std::uint64_t count : counts_) {
      total = sum_of(total, count);
      point.cumulative.push_back(total);
    }
    return point;
  }

  void state(StateIo& io) {
    io(counts_);
    io(sum_);
  }

 private:
  // Saturates: a saved count may be anything.
  static std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) {
    return a + std::min(b, std::numeric_limits<std::uint64_t>::max() - a);
  }

  std::array<std::uint64_t, Bounds.size() + 1> counts_{};
  CompensatedSum sum_;
};

using Histogram = BasicHistogram<kStepBounds>;

// train_job, node and rank, where they are known.
inline Labels labels_of(const Subject& subject) {
  Labels labels;
  if (!subject.job.empty()) labels.add("train_job", subject.job);
  if (!subject.node.empty()) labels.add("node", subject.node);
  if (subject.rank != kNoRank) labels.add("rank", std::to_string(subject.rank));
  if (subject.process != kNoProcess) labels.add("process", std::to_string(subject.process));
  return labels;
}

inline Labels labels_of(const Interner& interner, SubjectId id) {
  return labels_of(interner.subjects[id]);
}

inline Labels with(Labels labels, std::string_view name, std::string_view value) {
  labels.add(name, value);
  return labels;
}

inline MetricFamily family(std::string_view name, std::string_view help, MetricType type) {
  return {std::string(name), std::string(help), type, {}, {}};
}

template <class HistogramType = Histogram>
MetricFamily histogram_family(std::string_view name, std::string_view help) {
  MetricFamily made = family(name, help, MetricType::histogram);
  made.bounds.assign(HistogramType::kBounds.begin(), HistogramType::kBounds.end());
  return made;
}

}  // namespace trainwatch
