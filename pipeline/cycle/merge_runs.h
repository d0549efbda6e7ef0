// SPDX-License-Identifier: Apache-2.0
// Sorts a sequence that consists of a few ascending runs, such as the rows of a few streams.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace trainwatch {

// A stable sort in O(n log runs) with a buffer for half of the values.
template <class Value, class Less>
void merge_runs(std::vector<Value>& values, Less&& less) {
  std::vector<std::size_t> ends;  // of the runs
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (less(values[i], values[i - 1])) ends.push_back(i);
  }
  ends.push_back(values.size());
  const auto at = [&values](std::size_t index) {
    return values.begin() + static_cast<std::ptrdiff_t>(index);
  };
  while (ends.size() > 1) {
    std::vector<std::size_t> longer;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const std::size_t begin = longer.empty() ? 0 : longer.back();
      const std::size_t end = i + 1 < ends.size() ? ends[i + 1] : ends[i];
      std::inplace_merge(at(begin), at(ends[i]), at(end), less);
      longer.push_back(end);
    }
    ends = std::move(longer);
  }
}

}  // namespace trainwatch
