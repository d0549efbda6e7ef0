// SPDX-License-Identifier: Apache-2.0
// Exact order statistics over the last `capacity` values: the values are kept in order of arrival
// and, beside that, the order of their places, of 2 or 4 bytes each: there is a window for each of
// thousands of ranks. A push is a binary search and one memmove of at most the distance between the
// value that leaves and the one that enters; a quantile is a look-up. Memory grows with the values
// held, up to the capacity; then nothing is allocated any more. At 100 to 1000 values this beats
// balanced trees, and unlike histogram sketches it is exact.
//
// Only values up to kLargest enter, so that differences and multiples of them stay finite: push()
// refuses larger ones, NaN and infinities, and the window stays as it was.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "trainwatch/state_io.h"
#include "trainwatch/stats/ascending_values.h"

namespace trainwatch {

template <class Place, std::floating_point Value = double>
class BasicSortedWindow {
 public:
  static constexpr auto kLargest = static_cast<Value>(std::is_same_v<Value, float> ? 1e38 : 1e300);

  explicit BasicSortedWindow(std::size_t capacity) : capacity_(capacity) {
    assert(capacity > 0 && capacity <= std::numeric_limits<Place>::max());
  }

  // False if the value was refused.
  bool push(Value value) {
    if (!fits(value)) return false;
    if (arrived_.size() < capacity_) {
      if (arrived_.size() == arrived_.capacity()) grow();
      const auto place = static_cast<Place>(arrived_.size());
      order_.insert(behind(order_.begin(), order_.end(), value), place);
      arrived_.push_back(value);
      return true;
    }
    replace_oldest(value);
    oldest_ = oldest_ + 1 == capacity_ ? 0 : oldest_ + 1;
    return true;
  }

  // The value that the next push drops; nullopt while there is room.
  std::optional<Value> leaving() const {
    if (arrived_.size() < capacity_) return std::nullopt;
    return arrived_[oldest_];
  }

  std::size_t size() const { return arrived_.size(); }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return arrived_.empty(); }
  AscendingValues<Place, Value> sorted() const { return {arrived_, order_}; }

  // q in 0..1 with linear interpolation at h = (n - 1) q, as numpy.quantile's default
  // (Hyndman and Fan 1996, type 7). NaN when empty.
  double quantile(double q) const {
    assert(q >= 0 && q <= 1);
    if (empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto values = sorted();
    const double h = static_cast<double>(values.size() - 1) * q;
    const auto below = static_cast<std::size_t>(h);
    const auto low = static_cast<double>(values[below]);
    const auto high = static_cast<double>(values[std::min(below + 1, values.size() - 1)]);
    const double share = h - static_cast<double>(below);
    return share < 0.5 ? low + (high - low) * share : high - (high - low) * (1 - share);
  }
  // The middle value, or the mean of the two middle ones.
  double median() const { return quantile(0.5); }

  // A load fails if the saved window does not fit this capacity.
  void state(StateIo& io) {
    io(arrived_);
    io(oldest_);
    if (!io.is_loading()) return;
    const bool own = arrived_.size() <= capacity_ &&
                     (oldest_ == 0 || (arrived_.size() == capacity_ && oldest_ < capacity_)) &&
                     std::all_of(arrived_.begin(), arrived_.end(), fits);
    if (!own || !io.ok()) {
      io.fail();
      arrived_.clear();
      oldest_ = 0;
    }
    order_.resize(arrived_.size());
    std::iota(order_.begin(), order_.end(), Place{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [this](Place a, Place b) { return arrived_[a] < arrived_[b]; });
  }

 private:
  using Order = std::vector<Place>;
  using OrderIterator = typename Order::iterator;

  static bool fits(Value value) { return std::fabs(value) <= kLargest; }  // false for NaN

  // In few steps: thousands of windows grow together, and the room that one leaves is too small for
  // the others.
  void grow() {
    constexpr std::size_t kFewest = 24;
    const std::size_t wanted = std::min(capacity_, std::max(kFewest, 4 * arrived_.size()));
    arrived_.reserve(wanted);
    order_.reserve(wanted);
  }

  // The first in the order that is not less than `value`.
  OrderIterator at_least(OrderIterator begin, OrderIterator end, Value value) const {
    return std::lower_bound(begin, end, value,
                            [this](Place place, Value v) { return arrived_[place] < v; });
  }
  // The first that is greater.
  OrderIterator behind(OrderIterator begin, OrderIterator end, Value value) const {
    return std::upper_bound(begin, end, value,
                            [this](Value v, Place place) { return v < arrived_[place]; });
  }

  void replace_oldest(Value enters) {
    const Value leaves = arrived_[oldest_];
    const auto oldest = static_cast<Place>(oldest_);
    const auto gap =
        std::find(at_least(order_.begin(), order_.end(), leaves), order_.end(), oldest);
    if (enters > leaves) {
      const auto end = at_least(gap + 1, order_.end(), enters);
      *std::move(gap + 1, end, gap) = oldest;
    } else {
      const auto begin = behind(order_.begin(), gap, enters);
      std::move_backward(begin, gap, gap + 1);
      *begin = oldest;
    }
    arrived_[oldest_] = enters;
  }

  std::size_t capacity_;
  std::uint64_t oldest_ = 0;    // index into arrived_ once that is full
  std::vector<Value> arrived_;  // a ring
  Order order_;                 // indexes into arrived_, by value
};

using SortedWindow = BasicSortedWindow<std::uint32_t>;
// In half of the memory: of 65,535 values at most, with 24 bits each.
using LeanSortedWindow = BasicSortedWindow<std::uint16_t, float>;

}  // namespace trainwatch
