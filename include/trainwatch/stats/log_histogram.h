// SPDX-License-Identifier: Apache-2.0
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
#include "trainwatch/stats/compact_counts.h"

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
    other.each_bucket([this](std::int32_t bucket, std::uint64_t times) { add_to(bucket, times); });
  }

  std::uint64_t count() const { return count_; }

  // The value with `rank` smaller values; rank < count().
  double at(std::uint64_t rank) const {
    std::uint64_t before = 0;
    double value = 0;
    each_bucket([&](std::int32_t bucket, std::uint64_t times) {
      if (before <= rank) value = value_of(bucket);
      before += times;
    });
    return value;
  }

  // Calls `use(value, times)` in ascending order.
  template <class Use>
  void each(Use&& use) const {
    each_bucket([&use](std::int32_t bucket, std::uint64_t times) { use(value_of(bucket), times); });
  }

  // Saves the non-empty buckets in ascending order.
  void state(StateIo& io) {
    std::vector<std::int16_t> buckets;
    std::vector<std::uint64_t> counts;
    if (!io.is_loading()) {
      each_bucket([&](std::int32_t bucket, std::uint64_t times) {
        buckets.push_back(static_cast<std::int16_t>(bucket));
        counts.push_back(times);
      });
    }
    io(buckets);
    io(counts);
    if (!io.is_loading()) return;
    *this = {};
    const bool ascending = std::ranges::is_sorted(buckets, std::ranges::less_equal{});
    const std::int32_t most = bucket_of(kLargest);
    const bool inside = buckets.empty() || (buckets.front() >= -most && buckets.back() <= most);
    if (!ascending || !inside || buckets.size() != counts.size()) io.fail();
    if (!io.ok()) return;
    for (std::size_t i = 0; i < buckets.size(); ++i) add_to(buckets[i], counts[i]);
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

  // The counts of the buckets of one sign, from the first to the last block in use. Empty buckets
  // in between take memory, but a bucket is found by its index: searching a list of the non-empty
  // ones took 13 % of the analyses' time with 300 histograms, which do not fit into the cache.
  class Counts {
   public:
    // bucket > 0
    void add(std::int32_t bucket, std::uint64_t times) {
      if (bucket < first_ || bucket >= end()) make_room(bucket);
      times_.add(static_cast<std::size_t>(bucket - first_), times);
    }
    std::int32_t first() const { return first_; }
    std::int32_t end() const { return first_ + static_cast<std::int32_t>(times_.size()); }
    std::uint64_t of(std::int32_t bucket) const {
      return times_[static_cast<std::size_t>(bucket - first_)];
    }

   private:
    static constexpr std::int32_t kBlock = 16;

    void make_room(std::int32_t bucket) {
      const std::int32_t block = bucket / kBlock * kBlock;
      if (times_.size() == 0) first_ = block;
      const std::int32_t front = std::max(first_ - block, 0);
      const std::int32_t back = std::max(block + kBlock - end(), 0);
      times_.grow(static_cast<std::size_t>(front), static_cast<std::size_t>(back));
      first_ -= front;
    }

    std::int32_t first_ = 0;
    CompactCounts times_;
  };

  void add_to(std::int32_t bucket, std::uint64_t times) {
    count_ += times;
    if (bucket == 0) {
      zeros_ += times;
    } else if (bucket > 0) {
      positive_.add(bucket, times);
    } else {
      negative_.add(-bucket, times);
    }
  }

  // Calls `use(bucket, times)` for each non-empty bucket, in ascending order.
  template <class Use>
  void each_bucket(Use&& use) const {
    for (std::int32_t bucket = negative_.end() - 1; bucket >= negative_.first(); --bucket) {
      if (const std::uint64_t times = negative_.of(bucket)) use(-bucket, times);
    }
    if (zeros_ > 0) use(0, zeros_);
    for (std::int32_t bucket = positive_.first(); bucket < positive_.end(); ++bucket) {
      if (const std::uint64_t times = positive_.of(bucket)) use(bucket, times);
    }
  }

  Counts negative_;
  Counts positive_;
  std::uint64_t zeros_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace trainwatch
