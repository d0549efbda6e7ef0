// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/kineto/correlation_index.h"

#include <limits>
#include <utility>

#include "trainwatch/release_memory.h"

namespace trainwatch {
namespace {

constexpr std::size_t kLine = 8;  // slots in a line of the cache
constexpr std::size_t kFirstSlots = 128 * kLine;

bool is_large(std::int64_t correlation) {
  return correlation > std::numeric_limits<std::uint32_t>::max();
}

}  // namespace

void CorrelationIndex::clear() {
  size_ = 0;
  slots_ = std::vector<Slot>(kFirstSlots);
  release_memory(large_);
}

// Eight correlations in a row, which mostly are of events in a row, share a cache line.
std::size_t CorrelationIndex::home(std::uint32_t key) const {
  const std::uint64_t hash = ((key / kLine) * 0x9E3779B97F4A7C15ULL) >> 32U;
  return (hash * (slots_.size() / kLine) >> 32U) * kLine + key % kLine;
}

std::size_t CorrelationIndex::place(std::uint32_t key) const {
  std::size_t at = home(key);
  while (slots_[at].key != kEmpty && slots_[at].key != key) at = after(at);
  return at;
}

std::uint32_t* CorrelationIndex::find(std::int64_t correlation) {
  if (is_large(correlation)) {
    const auto known = large_.find(correlation);
    return known == large_.end() ? nullptr : &known->second;
  }
  Slot& slot = slots_[place(static_cast<std::uint32_t>(correlation))];
  return slot.key == kEmpty ? nullptr : &slot.value;
}

void CorrelationIndex::insert(std::int64_t correlation, std::uint32_t value) {
  if (is_large(correlation)) {
    if (large_.size() < kMostLarge) large_.emplace(correlation, value);
    return;
  }
  if (size_ >= slots_.size() / 5 * 4) grow();
  const auto key = static_cast<std::uint32_t>(correlation);
  slots_[place(key)] = {key, value};
  ++size_;
}

// Moves up what was put behind it, so that no search ends too early.
void CorrelationIndex::erase(std::int64_t correlation) {
  if (is_large(correlation)) {
    large_.erase(correlation);
    return;
  }
  std::size_t hole = place(static_cast<std::uint32_t>(correlation));
  if (slots_[hole].key == kEmpty) return;
  --size_;
  for (std::size_t at = after(hole); slots_[at].key != kEmpty; at = after(at)) {
    if (distance(home(slots_[at].key), at) < distance(hole, at)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = {};
}

// By half: old and new slots exist at the same time.
void CorrelationIndex::grow() {
  const std::vector<Slot> old = std::exchange(slots_, {});
  slots_ = std::vector<Slot>(old.size() / kLine * 3 / 2 * kLine);
  for (const Slot& slot : old) {
    if (slot.key != kEmpty) slots_[place(slot.key)] = slot;
  }
}

}  // namespace trainwatch
