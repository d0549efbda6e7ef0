// From correlation to a row, for millions of them: open addressing, 12 bytes a slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainwatch {

class CorrelationIndex {
 public:
  static constexpr std::int64_t kNone = 0;  // correlations begin at 1

  CorrelationIndex() { clear(); }

  // The value of a correlation, null when there is none. Valid until the next call.
  std::uint32_t* find(std::int64_t correlation);
  // There must be none yet.
  void insert(std::int64_t correlation, std::uint32_t value);
  void erase(std::int64_t correlation);

  // Calls `each(value)` for all, in no order.
  template <class Each>
  void for_each(Each&& each) const {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] != kNone) each(values_[i]);
    }
  }
  std::size_t size() const { return size_; }
  // Gives its memory back.
  void clear();

 private:
  // Where a correlation is, or would be put.
  std::size_t place(std::int64_t correlation) const;
  std::size_t home(std::int64_t correlation) const;
  void grow();

  std::size_t size_ = 0;
  unsigned shift_ = 0;  // 64 - log2 of the number of slots
  std::vector<std::int64_t> keys_;
  std::vector<std::uint32_t> values_;
};

}  // namespace trainwatch
