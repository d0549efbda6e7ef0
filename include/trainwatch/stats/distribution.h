// How values are distributed, in bounded memory: as counts in buckets, and with exact figures.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "trainwatch/release_memory.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/compensated_sum.h"

namespace trainwatch {

// Counts of numbers in buckets whose widths grow with the numbers: quantiles of any number of
// values in bounded memory, each at most kError (1 %) off. Values nearer to zero than kSmallest
// count as zero, those beyond kLargest as kLargest; NaN must not be added.
class LogHistogram {
 public:
  static constexpr double kError = 0.01;
  static constexpr double kSmallest = 1e-9;
  static constexpr double kLargest = 1e18;

  void add(double value, std::uint64_t times = 1) { add_to(bucket_of(value), times); }
  void merge(const LogHistogram& other) {
    for (const auto& [bucket, times] : other.buckets_) add_to(bucket, times);
  }

  std::uint64_t count() const { return count_; }

  // The value with `rank` smaller values; rank < count().
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
    if (!std::ranges::is_sorted(buckets_, std::ranges::less_equal{}, &Bucket::first)) io.fail();
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

  void add_to(std::int32_t bucket, std::uint64_t times) {
    const auto place = std::ranges::lower_bound(buckets_, bucket, {}, &Bucket::first);
    const bool known = place != buckets_.end() && place->first == bucket;
    (known ? place : buckets_.insert(place, {bucket, 0}))->second += times;
    count_ += times;
  }

  using Bucket = std::pair<std::int32_t, std::uint64_t>;
  std::vector<Bucket> buckets_;  // ascending; as most values are alike, they are few
  std::uint64_t count_ = 0;
};

// Count, mean, minimum and maximum exactly, quantiles exactly as long as there are at most
// `exact_limit` values, at most LogHistogram::kError off beyond.
class Distribution {
 public:
  explicit Distribution(std::size_t exact_limit = 1024) : exact_limit_(exact_limit) {}

  // NaN and infinities are left out.
  void add(double value) {
    if (!sum_.add(value)) return;
    note(value, value, 1);
    if (exact()) {
      values_.push_back(value);
      if (values_.size() > exact_limit_) fold();
    } else {
      sketch_.add(value);
    }
  }

  // As if every value of `other` were added; exact as long as both are.
  void merge(const Distribution& other) {
    if (other.count_ == 0) return;
    sum_.add(other.sum_.value());
    note(other.min_, other.max_, other.count_);
    if (exact() && other.exact()) {
      values_.insert(values_.end(), other.values_.begin(), other.values_.end());
      return;
    }
    fold();
    sketch_.merge(other.sketch_);
    for (const double value : other.values_) sketch_.add(value);
  }

  std::uint64_t count() const { return count_; }
  bool exact() const { return sketch_.count() == 0; }
  double mean() const { return sum_.value() / static_cast<double>(count_); }
  double min() const { return min_; }
  double max() const { return max_; }

  // The values in ascending order, built once for several queries. Empty distributions return 0.
  class Sorted {
   public:
    explicit Sorted(const Distribution& of) : of_(of), values_(of.values_) {
      std::sort(values_.begin(), values_.end());
    }
    // Interpolates linearly, like numpy and pandas.
    double quantile(double q) const {
      if (of_.count_ == 0) return 0;
      const double place = q * static_cast<double>(of_.count_ - 1);
      const auto below = static_cast<std::uint64_t>(place);
      const double lower = at(below);
      if (below + 1 >= of_.count_) return lower;
      return lower + (at(below + 1) - lower) * (place - static_cast<double>(below));
    }
    // Calls `use(value, times)` in ascending order.
    template <class Use>
    void each(Use&& use) const {
      for (const double value : values_) use(value, std::uint64_t{1});
      of_.sketch_.each(use);
    }
    std::uint64_t count_at_least(double limit) const {
      std::uint64_t total = 0;
      each([&](double value, std::uint64_t times) { total += value >= limit ? times : 0; });
      return total;
    }
    // Divides by n, not n - 1.
    double standard_deviation() const {
      if (of_.count_ == 0) return 0;
      const double mean = of_.mean();
      CompensatedSum squares;
      each([&](double value, std::uint64_t times) {
        squares.add((value - mean) * (value - mean) * static_cast<double>(times));
      });
      return std::sqrt(squares.value() / static_cast<double>(of_.count_));
    }

   private:
    double at(std::uint64_t rank) const {
      if (of_.exact()) return values_[static_cast<std::size_t>(rank)];
      return std::clamp(of_.sketch_.at(rank), of_.min_, of_.max_);
    }
    const Distribution& of_;
    std::vector<double> values_;
  };
  Sorted sorted() const { return Sorted(*this); }

  void state(StateIo& io) {
    io(values_);
    io(sketch_);
    io(sum_);
    io(count_);
    io(min_);
    io(max_);
    const std::uint64_t held = values_.size() + sketch_.count();
    if (io.is_loading() && (held != count_ || values_.size() > exact_limit_)) io.fail();
    if (!io.ok()) *this = Distribution(exact_limit_);
  }

 private:
  void note(double smallest, double largest, std::uint64_t times) {
    min_ = std::min(min_, smallest);
    max_ = std::max(max_, largest);
    count_ += times;
  }
  void fold() {
    for (const double value : values_) sketch_.add(value);
    release_memory(values_);
  }

  std::size_t exact_limit_;
  std::vector<double> values_;
  LogHistogram sketch_;
  CompensatedSum sum_;
  std::uint64_t count_ = 0;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
};

}  // namespace trainwatch
