// Counts of numbers in buckets whose widths grow with the numbers: quantiles of any number of
// values in bounded memory, each at most kError (1 %) off. Values nearer to zero than kSmallest
// count as zero, those beyond kLargest as kLargest; NaN must not be added.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "trainwatch/state_io.h"

namespace trainwatch {

class LogHistogram {
 public:
  static constexpr double kError = 0.01;
  static constexpr double kSmallest = 1e-9;
  static constexpr double kLargest = 1e18;

  void add(double value, std::uint64_t times = 1) {
    buckets_[bucket_of(value)] += times;
    count_ += times;
  }
  void merge(const LogHistogram& other) {
    for (const auto& [bucket, times] : other.buckets_) buckets_[bucket] += times;
    count_ += other.count_;
  }

  std::uint64_t count() const { return count_; }

  // The value that `rank` smaller ones stand before; rank < count().
  double at(std::uint64_t rank) const {
    std::uint64_t before = 0;
    for (const auto& [bucket, times] : buckets_) {
      before += times;
      if (before > rank) return value_of(bucket);
    }
    return 0;
  }

  // Calls `use(value, times)` in ascending order.
  template <class Use>
  void each(Use&& use) const {
    for (const auto& [bucket, times] : buckets_) use(value_of(bucket), times);
  }

  void state(StateIo& io) {
    io(buckets_);
    if (!io.is_loading()) return;
    count_ = 0;
    for (const auto& [bucket, times] : buckets_) {
      if (bucket < -bucket_of(kLargest) || bucket > bucket_of(kLargest)) io.fail();
      count_ += times;
    }
  }

 private:
  static constexpr double kRatio = (1 + kError) / (1 - kError);

  // 0 for zero, mirrored for negative values; ascending with the value.
  static std::int32_t bucket_of(double value) {
    const double size = std::min(std::fabs(value), kLargest);
    if (size < kSmallest) return 0;
    const double place = std::ceil(std::log(size / kSmallest) / std::log(kRatio));
    const auto bucket = 1 + static_cast<std::int32_t>(place);
    return value < 0 ? -bucket : bucket;
  }
  static double value_of(std::int32_t bucket) {
    if (bucket == 0) return 0;
    const double upper = kSmallest * std::pow(kRatio, std::abs(bucket) - 1);
    const double middle = upper * (1 - kError);
    return bucket < 0 ? -middle : middle;
  }

  std::map<std::int32_t, std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
};

}  // namespace trainwatch
