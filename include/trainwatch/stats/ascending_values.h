// SPDX-License-Identifier: Apache-2.0
// Values in ascending order, as a view of values that lie in any order and of their places by
// value: 2 or 4 bytes for each value, where a sorted copy takes 4 or 8. It owns neither.
#pragma once

#include <boost/iterator/permutation_iterator.hpp>
#include <cstddef>
#include <span>

namespace trainwatch {

template <class Place, class Value = double>
class AscendingValues {
 public:
  using Iterator = boost::permutation_iterator<const Value*, const Place*>;

  AscendingValues(std::span<const Value> values, std::span<const Place> order)
      : values_(values), order_(order) {}

  std::size_t size() const { return order_.size(); }
  bool empty() const { return order_.empty(); }
  Value operator[](std::size_t rank) const { return values_[order_[rank]]; }
  Value back() const { return values_[order_.back()]; }
  Iterator begin() const { return Iterator(values_.data(), order_.data()); }
  Iterator end() const { return Iterator(values_.data(), order_.data() + order_.size()); }

 private:
  std::span<const Value> values_;
  std::span<const Place> order_;
};

}  // namespace trainwatch
