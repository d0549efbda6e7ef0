// Counts of numbers in buckets whose widths grow with the numbers: quantiles of any number of
// values in bounded memory, each at most kError (1 %) off.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "trainwatch/state_io.h"

namespace trainwatch {

// What a positive number begins with: its exponent and a few more bits. In steps of 1/64 from one
// to the next, which is less than a bucket.
inline constexpr unsigned kBeginningBits = 6;
constexpr std::size_t beginning_of(double size) {
  return std::bit_cast<std::uint64_t>(size) >> (52 - kBeginningBits);
}

// The buckets of LogHistogram. Bucket k > 0 holds the sizes above kSmallest * kRatio^(k-2) and up
// to kSmallest * kRatio^(k-1), by the logarithm. It is found without one: sizes that begin alike
// are in two buckets at most.
class LogBuckets {
 public:
  static constexpr double kError = 0.01;
  static constexpr double kSmallest = 1e-9;
  static constexpr double kLargest = 1e18;
  static constexpr double kRatio = (1 + kError) / (1 - kError);

  static const LogBuckets& get() {
    static const LogBuckets kBuckets;
    return kBuckets;
  }

  // kSmallest <= size <= kLargest
  std::int32_t of(double size) const {
    const std::int32_t bucket = first_[beginning_of(size) - kFirst];
    return bucket + (size > last_in_[static_cast<std::size_t>(bucket)] ? 1 : 0);
  }
  static std::int32_t by_logarithm(double size) {
    return 1 + static_cast<std::int32_t>(std::ceil(std::log(size / kSmallest) / std::log(kRatio)));
  }

 private:
  static constexpr std::size_t kBuckets = 3111;  // the last one holds kLargest

  static constexpr std::size_t kFirst = beginning_of(kSmallest);
  static constexpr std::size_t kBeginnings = beginning_of(kLargest) - kFirst + 1;

  LogBuckets() {
    for (std::size_t bucket = 1; bucket < kBuckets; ++bucket) last_in_[bucket] = last_in(bucket);
    for (std::size_t i = 0; i < kBeginnings; ++i) {
      const std::uint64_t bits = (kFirst + i) << (52 - kBeginningBits);
      const double least = std::max(std::bit_cast<double>(bits), kSmallest);
      first_[i] = static_cast<std::int16_t>(by_logarithm(least));
    }
  }

  // The largest number in the bucket. Rounding may put it next to the power.
  static double last_in(std::size_t bucket) {
    const auto wanted = static_cast<std::int32_t>(bucket);
    double size = kSmallest * std::pow(kRatio, static_cast<double>(wanted) - 1);
    while (by_logarithm(size) > wanted) size = std::nextafter(size, 0);
    for (double next = size; by_logarithm(next) <= wanted;) {
      size = next;
      next = std::nextafter(next, 2 * kLargest);
    }
    return size;
  }

  std::array<double, kBuckets> last_in_{};
  std::array<std::int16_t, kBeginnings> first_{};
};

// Values nearer to zero than kSmallest count as zero, those beyond kLargest as kLargest; NaN must
// not be added.
class LogHistogram {
 public:
  static constexpr double kError = LogBuckets::kError;
  static constexpr double kSmallest = LogBuckets::kSmallest;
  static constexpr double kLargest = LogBuckets::kLargest;

  void add(double value, std::uint64_t times = 1) { add_to(bucket_of(value), times); }
  void merge(const LogHistogram& other) {
    for (std::size_t i = 0; i < other.buckets_.size(); ++i) {
      add_to(other.buckets_[i], other.times_[i]);
    }
  }

  std::uint64_t count() const { return count_; }

  // The value with `rank` smaller values; rank < count().
  double at(std::uint64_t rank) const {
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      before += times_[i];
      if (before > rank) return value_of(buckets_[i]);
    }
    return 0;
  }

  // Calls `use(value, times)` in ascending order.
  template <class Use>
  void each(Use&& use) const {
    for (std::size_t i = 0; i < buckets_.size(); ++i) use(value_of(buckets_[i]), times_[i]);
  }

  void state(StateIo& io) {
    io(buckets_);
    io(times_);
    if (!io.is_loading()) return;
    count_ = 0;
    for (const std::uint64_t times : times_) count_ += times;
    const bool ascending = std::ranges::is_sorted(buckets_, std::ranges::less_equal{});
    const std::int32_t most = bucket_of(kLargest);
    const bool inside = buckets_.empty() || (buckets_.front() >= -most && buckets_.back() <= most);
    if (!ascending || !inside || buckets_.size() != times_.size()) io.fail();
    if (!io.ok()) *this = {};
  }

 private:
  // 0 for zero, mirrored for negative values; ascending with the value.
  static std::int32_t bucket_of(double value) {
    const double size = std::min(std::fabs(value), kLargest);
    if (size < kSmallest) return 0;
    const std::int32_t bucket = LogBuckets::get().of(size);
    return value < 0 ? -bucket : bucket;
  }
  static double value_of(std::int32_t bucket) {
    if (bucket == 0) return 0;
    const double upper = kSmallest * std::pow(LogBuckets::kRatio, std::abs(bucket) - 1);
    const double middle = upper * (1 - kError);
    return bucket < 0 ? -middle : middle;
  }

  // Returns the position of the first bucket that is not smaller. std::lower_bound() branches on
  // every comparison, and mispredicts half of them: 38 ns instead of 8 with 229 buckets.
  std::size_t place_of(std::int32_t bucket) const {
    std::size_t place = 0;
    for (std::size_t left = buckets_.size(); left > 0;) {
      const std::size_t half = (left + 1) / 2;
      place += buckets_[place + half - 1] < bucket ? half : 0;
      left -= half;
    }
    return place;
  }

  void add_to(std::int32_t bucket, std::uint64_t times) {
    const std::size_t place = place_of(bucket);
    if (place == buckets_.size() || buckets_[place] != bucket) {
      const auto index = static_cast<std::ptrdiff_t>(place);
      buckets_.insert(buckets_.begin() + index, static_cast<std::int16_t>(bucket));
      times_.insert(times_.begin() + index, 0);
    }
    times_[place] += times;
    count_ += times;
  }

  // Ascending. As most values are alike, they are few, and a search touches few lines of memory.
  std::vector<std::int16_t> buckets_;
  std::vector<std::uint64_t> times_;  // of each
  std::uint64_t count_ = 0;
};

}  // namespace trainwatch
