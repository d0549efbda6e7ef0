// SPDX-License-Identifier: Apache-2.0
// How values are distributed, in bounded memory: as counts in buckets, and with exact figures.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "trainwatch/release_memory.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/compensated_sum.h"
#include "trainwatch/stats/log_histogram.h"

namespace trainwatch {

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
      keep(value);
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
  // Grows by a quarter: there are thousands of distributions.
  void keep(double value) {
    const std::size_t size = values_.size();
    if (size == values_.capacity()) values_.reserve(size + std::max<std::size_t>(size / 4, 4));
    values_.push_back(value);
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
