// Maps correlations to rows, for millions of them: open addressing, 12 bytes per slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainwatch {

class CorrelationIndex {
 public:
  static constexpr std::int64_t kNone = 0;  // correlations begin at 1

  CorrelationIndex() { clear(); }

  // The value of a correlation, null if there is none. Valid until the next call.
  std::uint32_t* find(std::int64_t correlation);
  // The correlation must be new.
  void insert(std::int64_t correlation, std::uint32_t value);
  void erase(std::int64_t correlation);

  // Calls `each(value)` for all values, in no particular order.
  template <class Each>
  void for_each(Each&& each) const {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] != kNone) each(values_[i]);
    }
  }
  std::size_t size() const { return size_; }
  // Frees the memory.
  void clear();

 private:
  // The slot where a correlation is or would be.
  std::size_t place(std::int64_t correlation) const;
  std::size_t home(std::int64_t correlation) const;
  void grow();

  std::size_t size_ = 0;
  unsigned shift_ = 0;  // 64 - log2 of the number of slots
  std::vector<std::int64_t> keys_;
  std::vector<std::uint32_t> values_;
};

}  // namespace trainwatch
