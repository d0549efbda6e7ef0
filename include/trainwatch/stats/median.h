// The median of values that are all at hand. (Of a window that moves: sorted_window.h.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace trainwatch {

// Not of an empty list; of an even number the mean of the two in the middle. O(n).
inline double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace trainwatch
