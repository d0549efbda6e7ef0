// SPDX-License-Identifier: Apache-2.0
// Whether a level rises steadily, from the minima of equal stretches of time: the saw teeth of a
// garbage collector have level minima, and a jump is no trend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

class MemoryTrend {
 public:
  static constexpr std::size_t kBuckets = 60;
  static constexpr std::size_t kLeast = 24;  // to see a trend
  static constexpr double kLargest = 1e6;    // of a value

  struct Rise {
    double per_hour = 0;
    double from = 0;  // the level when the window began
    double level = 0;
    Nanos span{};  // how long it has been seen
  };

  explicit MemoryTrend(Nanos width) : width_(width) { buckets_.reserve(kBuckets + 1); }

  // True if the value begins a stretch, and so completes one. Values come in order of time; one
  // that is late counts as the latest stretch's.
  bool push(Time at, double value);
  // Over the stretches that are complete; nullopt if the level does not rise, or not steadily.
  const std::optional<Rise>& rise() const { return rise_; }
  // The lowest level of the latest complete stretch.
  std::optional<double> level() const;
  bool enough() const { return buckets_.size() > kLeast; }
  void clear() {
    buckets_.clear();
    rise_.reset();
  }
  // A load fails if the saved stretches are impossible.
  void state(StateIo& io);

 private:
  struct Bucket {
    std::int64_t number = 0;  // of the stretch, since 1970
    double lowest = 0;
  };

  std::optional<Rise> find_rise() const;
  double median(std::size_t begin, std::size_t end) const;
  bool steady() const;
  double slope() const;                  // per stretch
  double deviation(double slope) const;  // median, from the line

  Nanos width_;
  std::vector<Bucket> buckets_;  // the last one is incomplete
  std::optional<Rise> rise_;     // over the others
};

}  // namespace trainwatch
