// SPDX-License-Identifier: Apache-2.0
// From when to when each of a few names was active: the first start and the last end of its spans.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

struct TimeExtent {
  Time start{};
  Time end{};
  void cover(const TimeExtent& other) {
    start = std::min(start, other.start);
    end = std::max(end, other.end);
  }
};

// A hash table: spans of every name come again in each step, so clear() keeps the memory.
class SymbolExtents {
 public:
  static constexpr std::size_t kMost = 4096;

  // Beyond kMost names, further ones are left out.
  void cover(Symbol symbol, const TimeExtent& extent) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(symbol)];
    if (slot.used) return slot.extent.cover(extent);
    if (size_ == kMost) return;
    slot = {symbol, true, extent};
    ++size_;
  }
  std::size_t size() const { return size_; }

  // Calls `use(symbol, extent)` for each, in no particular order.
  template <class Use>
  void each(Use&& use) const {
    for (const Slot& slot : slots_) {
      if (slot.used) use(slot.symbol, slot.extent);
    }
  }

  void clear() {
    for (Slot& slot : slots_) slot.used = false;
    size_ = 0;
  }

  void state(StateIo& io) {
    std::vector<std::pair<Symbol, TimeExtent>> all;
    each([&all](Symbol symbol, const TimeExtent& extent) { all.emplace_back(symbol, extent); });
    std::ranges::sort(all, {}, [](const auto& each) { return each.first; });
    io(all);
    if (!io.is_loading()) return;
    *this = {};
    if (all.size() > kMost) return io.fail();
    for (const auto& [symbol, extent] : all) cover(symbol, extent);
  }

 private:
  struct Slot {
    Symbol symbol = Symbol::none;
    bool used = false;
    TimeExtent extent{};
  };

  // Where the symbol is, or would be.
  std::size_t place_of(Symbol symbol) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = (static_cast<std::uint32_t>(symbol) * 2654435769U) & mask;
    while (slots_[place].used && slots_[place].symbol != symbol) place = (place + 1) & mask;
    return place;
  }
  void grow() {
    const std::vector<Slot> before = std::exchange(slots_, {});
    slots_.resize(std::max<std::size_t>(8, 2 * before.size()));
    for (const Slot& slot : before) {
      if (slot.used) slots_[place_of(slot.symbol)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::size_t size_ = 0;
};

}  // namespace trainwatch
