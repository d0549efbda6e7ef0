// Exact order statistics over the last `capacity` values: the values are kept in order of arrival
// and, beside that, sorted in one contiguous array. A push is a binary search and one memmove of at
// most the distance between the value that leaves and the one that enters; a quantile is a look-up.
// Memory grows with the values held, up to the capacity; then nothing is allocated any more. At 100
// to 1000 values this beats balanced trees, and unlike histogram sketches it is exact.
//
// Only values up to kLargest enter, so that differences and multiples of them stay finite: push()
// refuses larger ones, NaN and infinities, and the window stays as it was.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "trainwatch/state_io.h"

namespace trainwatch {

class SortedWindow {
 public:
  static constexpr double kLargest = 1e300;

  explicit SortedWindow(std::size_t capacity) : capacity_(capacity) { assert(capacity > 0); }

  // False if the value was refused.
  bool push(double value) {
    if (!fits(value)) return false;
    if (arrived_.size() < capacity_) {
      if (arrived_.size() == arrived_.capacity()) grow();
      arrived_.push_back(value);
      sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), value), value);
      return true;
    }
    replace(arrived_[oldest_], value);
    arrived_[oldest_] = value;
    oldest_ = oldest_ + 1 == capacity_ ? 0 : oldest_ + 1;
    return true;
  }

  // The value that the next push drops; nullopt while there is room.
  std::optional<double> leaving() const {
    if (arrived_.size() < capacity_) return std::nullopt;
    return arrived_[oldest_];
  }

  std::size_t size() const { return sorted_.size(); }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return sorted_.empty(); }
  // Ascending.
  std::span<const double> sorted() const { return sorted_; }

  // q in 0..1 with linear interpolation at h = (n - 1) q, as numpy.quantile's default
  // (Hyndman and Fan 1996, type 7). NaN when empty.
  double quantile(double q) const {
    assert(q >= 0 && q <= 1);
    if (sorted_.empty()) return std::numeric_limits<double>::quiet_NaN();
    const double h = static_cast<double>(sorted_.size() - 1) * q;
    const auto below = static_cast<std::size_t>(h);
    const double low = sorted_[below];
    const double high = sorted_[std::min(below + 1, sorted_.size() - 1)];
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
    sorted_ = arrived_;
    std::sort(sorted_.begin(), sorted_.end());
  }

 private:
  static bool fits(double value) { return std::fabs(value) <= kLargest; }  // false for NaN

  void grow() {
    constexpr std::size_t kFewest = 16;
    const std::size_t wanted = std::min(capacity_, std::max(kFewest, 2 * arrived_.size()));
    arrived_.reserve(wanted);
    sorted_.reserve(wanted);
  }

  void replace(double leaves, double enters) {
    const auto gap = std::lower_bound(sorted_.begin(), sorted_.end(), leaves);
    if (enters > leaves) {
      const auto place = std::lower_bound(gap + 1, sorted_.end(), enters);
      *std::move(gap + 1, place, gap) = enters;
    } else {
      const auto place = std::upper_bound(sorted_.begin(), gap, enters);
      std::move_backward(place, gap, gap + 1);
      *place = enters;
    }
  }

  std::size_t capacity_;
  std::uint64_t oldest_ = 0;     // index into arrived_ once that is full
  std::vector<double> arrived_;  // a ring
  std::vector<double> sorted_;
};

}  // namespace trainwatch
