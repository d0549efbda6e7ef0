// SPDX-License-Identifier: Apache-2.0
// Maps correlations to rows, for millions of them: open addressing, 8 bytes per slot. Correlations
// of more than 32 bits, which no profiler is known to write, are kept elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace trainwatch {

class CorrelationIndex {
 public:
  static constexpr std::int64_t kNone = 0;  // correlations begin at 1
  static constexpr std::size_t kMostLarge = std::size_t{1} << 17U;

  CorrelationIndex() { clear(); }

  // The value of a correlation, null if there is none. Valid until the next call.
  std::uint32_t* find(std::int64_t correlation);
  // The correlation must be new. A large one beyond kMostLarge is not kept.
  void insert(std::int64_t correlation, std::uint32_t value);
  void erase(std::int64_t correlation);

  // Calls `each(value)` for all values, in no particular order.
  template <class Each>
  void for_each(Each&& each) const {
    for (const Slot& slot : slots_) {
      if (slot.key != kEmpty) each(slot.value);
    }
    for (const auto& [correlation, value] : large_) each(value);
  }
  std::size_t size() const { return size_ + large_.size(); }
  // About how much memory it takes.
  std::size_t bytes() const {
    constexpr std::size_t kOfNode = 48;
    return slots_.size() * sizeof(Slot) + large_.size() * kOfNode;
  }
  // Frees the memory.
  void clear();

 private:
  static constexpr std::uint32_t kEmpty = 0;

  struct Slot {
    std::uint32_t key = kEmpty;
    std::uint32_t value = 0;
  };

  // The slot where a key is or would be.
  std::size_t place(std::uint32_t key) const;
  std::size_t home(std::uint32_t key) const;
  std::size_t after(std::size_t place) const { return place + 1 == slots_.size() ? 0 : place + 1; }
  std::size_t distance(std::size_t from, std::size_t to) const {
    return to >= from ? to - from : to + slots_.size() - from;
  }
  void grow();

  std::size_t size_ = 0;  // of slots_
  std::vector<Slot> slots_;
  std::unordered_map<std::int64_t, std::uint32_t> large_;
};

}  // namespace trainwatch
