// The median of a complete list of values, and the median absolute deviation of the last ones.
// (The median of a sliding window: sorted_window.h.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "trainwatch/state_io.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch {

// The list must not be empty, and is reordered; an even number gives the mean of the two in the
// middle. O(n).
inline double median_in(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}
inline double median_of(std::vector<double> values) {
  return median_in(values);
}

// Standard deviations per MAD of a normal distribution: 1 / Phi^-1(3/4).
inline constexpr double kSigmaPerMad = 1.4826;

// Median and median absolute deviation of the last `capacity` values, both exact.
//
// MAD = median(|x - median(x)|) (Hampel 1974; as scipy.stats.median_abs_deviation, scale 1). For
// normal noise 1.4826 MAD estimates the standard deviation, and up to half of the values may be
// outliers before it breaks: this is why a spike does not hide the next one.
//
// The values nearest to the median are neighbours in the sorted array, so the k-th smallest
// deviation is found by a binary search for where the k nearest begin: O(log n), no allocation.
class RollingMedianMad {
 public:
  using Sorted = AscendingValues<std::uint16_t>;

  explicit RollingMedianMad(std::size_t capacity) : window_(capacity) {}

  bool push(double value) { return window_.push(value); }
  std::size_t size() const { return window_.size(); }

  // NaN when empty.
  double median() const { return window_.median(); }
  double mad() const {
    const auto sorted = window_.sorted();
    const std::size_t n = sorted.size();
    if (n == 0) return std::numeric_limits<double>::quiet_NaN();
    const double center = median();
    const double upper = deviation(sorted, center, n / 2 + 1);
    if (n % 2 == 1) return upper;
    const double lower = deviation(sorted, center, n / 2);
    return lower + (upper - lower) / 2;
  }

  // Ascending.
  Sorted sorted() const { return window_.sorted(); }
  double largest() const { return window_.sorted().back(); }  // of at least one

  void state(StateIo& io) { window_.state(io); }

 private:
  // The k-th smallest distance from `center`, k counting from 1.
  static double deviation(const Sorted& sorted, double center, std::size_t k) {
    std::size_t low = 0;
    std::size_t high = sorted.size() - k;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (center - sorted[middle] > sorted[middle + k] - center) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return std::max(center - sorted[low], sorted[low + k - 1] - center);
  }

  ShortSortedWindow window_;
};

}  // namespace trainwatch
