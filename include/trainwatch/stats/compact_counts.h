// SPDX-License-Identifier: Apache-2.0
// A row of counts that takes four bytes each, until one of them needs more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainwatch {

class CompactCounts {
 public:
  explicit CompactCounts(std::size_t size = 0) : low_(size) {}

  std::size_t size() const { return low_.size(); }
  std::uint64_t operator[](std::size_t index) const {
    return low_[index] | std::uint64_t{high_.empty() ? 0 : high_[index]} << kLowBits;
  }
  void add(std::size_t index, std::uint64_t times) {
    const std::uint64_t sum = (*this)[index] + times;
    low_[index] = static_cast<std::uint32_t>(sum);
    const auto high = static_cast<std::uint32_t>(sum >> kLowBits);
    if (high == 0 && high_.empty()) return;
    high_.resize(low_.size());
    high_[index] = high;
  }
  // Adds zeros at both ends. Takes no more memory than they need.
  void grow(std::size_t front, std::size_t back) {
    if (!high_.empty()) high_ = grown(high_, front, back);
    low_ = grown(low_, front, back);
  }

 private:
  static constexpr unsigned kLowBits = 32;
  using Halves = std::vector<std::uint32_t>;

  static Halves grown(const Halves& halves, std::size_t front, std::size_t back) {
    Halves longer(front + halves.size() + back);
    std::ranges::copy(halves, longer.begin() + static_cast<std::ptrdiff_t>(front));
    return longer;
  }

  Halves low_;
  Halves high_;  // empty while all are zero
};

}  // namespace trainwatch
