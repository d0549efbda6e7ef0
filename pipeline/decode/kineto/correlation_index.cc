#include "pipeline/decode/kineto/correlation_index.h"

#include <utility>

namespace trainwatch {
namespace {

constexpr unsigned kFirstBits = 10;

}  // namespace

void CorrelationIndex::clear() {
  size_ = 0;
  shift_ = 64 - kFirstBits;
  keys_ = std::vector<std::int64_t>(std::size_t{1} << kFirstBits, kNone);
  values_ = std::vector<std::uint32_t>(keys_.size());
}

// Eight correlations in a row, which mostly are of events in a row, share a cache line.
std::size_t CorrelationIndex::home(std::int64_t correlation) const {
  const auto number = static_cast<std::uint64_t>(correlation);
  const std::uint64_t line = ((number >> 3U) * 0x9E3779B97F4A7C15ULL) >> (shift_ + 3);
  return line << 3U | (number & 7U);
}

std::size_t CorrelationIndex::place(std::int64_t correlation) const {
  const std::size_t mask = keys_.size() - 1;
  std::size_t at = home(correlation);
  while (keys_[at] != kNone && keys_[at] != correlation) at = (at + 1) & mask;
  return at;
}

std::uint32_t* CorrelationIndex::find(std::int64_t correlation) {
  const std::size_t at = place(correlation);
  return keys_[at] == kNone ? nullptr : &values_[at];
}

void CorrelationIndex::insert(std::int64_t correlation, std::uint32_t value) {
  if (size_ >= keys_.size() / 4 * 3) grow();
  const std::size_t at = place(correlation);
  keys_[at] = correlation;
  values_[at] = value;
  ++size_;
}

// Moves up what was put behind it, so that no search ends too early.
void CorrelationIndex::erase(std::int64_t correlation) {
  const std::size_t mask = keys_.size() - 1;
  std::size_t hole = place(correlation);
  if (keys_[hole] == kNone) return;
  --size_;
  for (std::size_t at = (hole + 1) & mask; keys_[at] != kNone; at = (at + 1) & mask) {
    const std::size_t distance = (at - home(keys_[at])) & mask;
    if (distance < ((at - hole) & mask)) continue;
    keys_[hole] = keys_[at];
    values_[hole] = values_[at];
    hole = at;
  }
  keys_[hole] = kNone;
}

void CorrelationIndex::grow() {
  const std::vector<std::int64_t> keys = std::exchange(keys_, {});
  const std::vector<std::uint32_t> values = std::exchange(values_, {});
  --shift_;
  keys_ = std::vector<std::int64_t>(keys.size() * 2, kNone);
  values_ = std::vector<std::uint32_t>(keys_.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == kNone) continue;
    const std::size_t at = place(keys[i]);
    keys_[at] = keys[i];
    values_[at] = values[i];
  }
}

}  // namespace trainwatch
