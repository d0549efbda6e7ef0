// A Prometheus histogram: counts per bucket and a sum.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "trainwatch/snapshot.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class Histogram {
 public:
  // Seconds, 1-2.5-5 per decade from 1 ms to 10 min: training steps span all of it.
  static constexpr std::array kBounds = {0.001, 0.0025, 0.005, 0.01,  0.025, 0.05,
                                         0.1,   0.25,   0.5,   1.0,   2.5,   5.0,
                                         10.0,  25.0,   50.0,  100.0, 250.0, 600.0};

  void observe(double seconds) {
    const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
    ++counts_[static_cast<std::size_t>(bucket - kBounds.begin())];
    sum_ += seconds;
  }

  MetricPoint point(Labels labels) const {
    MetricPoint point{std::move(labels), 0, {}, sum_};
    std::uint64_t total = 0;
    for (const std::uint64_t count : counts_) point.cumulative.push_back(total += count);
    return point;
  }

  void state(StateIo& io) {
    io(counts_);
    io(sum_);
  }

 private:
  std::array<std::uint64_t, kBounds.size() + 1> counts_{};
  double sum_ = 0;
};

}  // namespace trainwatch
