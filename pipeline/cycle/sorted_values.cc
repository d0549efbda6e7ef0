// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cycle/sorted_values.h"

#include <algorithm>
#include <boost/sort/spreadsort/float_sort.hpp>
#include <cmath>
#include <limits>

#include "trainwatch/stats/compensated_sum.h"

namespace trainwatch {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double mean_of(const std::vector<double>& values) {
  CompensatedSum sum;
  for (const double value : values) sum.add(value);
  return values.empty() ? kNaN : sum.value() / static_cast<double>(values.size());
}

}  // namespace

SortedValues::SortedValues(std::vector<double> values)
    : values_(std::move(values)), mean_(mean_of(values_)) {
  boost::sort::spreadsort::float_sort(values_.begin(), values_.end());
}

double SortedValues::min() const {
  return values_.empty() ? kNaN : values_.front();
}
double SortedValues::max() const {
  return values_.empty() ? kNaN : values_.back();
}

double SortedValues::stddev() const {
  if (values_.size() < 2) return kNaN;
  CompensatedSum squares;
  for (const double value : values_) squares.add((value - mean_) * (value - mean_));
  return std::sqrt(squares.value() / static_cast<double>(values_.size() - 1));
}

double SortedValues::quantile(double q) const {
  if (values_.empty()) return kNaN;
  const double place = q * static_cast<double>(values_.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double lower = values_[below];
  const double upper = values_[std::min(below + 1, values_.size() - 1)];
  return lower + (upper - lower) * (place - static_cast<double>(below));
}

Description describe(std::vector<double> values) {
  const SortedValues sorted(std::move(values));
  return {sorted.count(),        sorted.mean(),         sorted.stddev(),       sorted.min(),
          sorted.quantile(0.25), sorted.quantile(0.50), sorted.quantile(0.75), sorted.max()};
}

namespace {

class CountedValues {
 public:
  explicit CountedValues(const std::map<std::int64_t, std::uint64_t>& counts) : counts_(counts) {
    CompensatedSum sum;
    for (const auto& [value, times] : counts) {
      count_ += times;
      sum.add(static_cast<double>(value) * static_cast<double>(times));
    }
    mean_ = count_ == 0 ? kNaN : sum.value() / static_cast<double>(count_);
  }

  std::uint64_t count() const { return count_; }
  double mean() const { return mean_; }
  double stddev() const {
    if (count_ < 2) return kNaN;
    CompensatedSum squares;
    for (const auto& [value, times] : counts_) {
      const double off = static_cast<double>(value) - mean_;
      squares.add(off * off * static_cast<double>(times));
    }
    return std::sqrt(squares.value() / static_cast<double>(count_ - 1));
  }
  double quantile(double q) const {
    if (count_ == 0) return kNaN;
    const double place = q * static_cast<double>(count_ - 1);
    const auto below = static_cast<std::uint64_t>(place);
    const double lower = at(below);
    return lower +
           (at(std::min(below + 1, count_ - 1)) - lower) * (place - static_cast<double>(below));
  }

 private:
  double at(std::uint64_t index) const {
    for (const auto& [value, times] : counts_) {
      if (index < times) return static_cast<double>(value);
      index -= times;
    }
    return kNaN;
  }

  const std::map<std::int64_t, std::uint64_t>& counts_;
  std::uint64_t count_ = 0;
  double mean_ = 0;
};

}  // namespace

Description describe(const std::map<std::int64_t, std::uint64_t>& counts) {
  const CountedValues values(counts);
  return {values.count(),        values.mean(),         values.stddev(),       values.quantile(0),
          values.quantile(0.25), values.quantile(0.50), values.quantile(0.75), values.quantile(1)};
}

}  // namespace trainwatch
