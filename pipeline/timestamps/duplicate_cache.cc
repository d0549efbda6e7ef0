// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timestamps/duplicate_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace trainwatch {
namespace {

// Never 0, which means "empty".
template <std::size_t n>
std::uint64_t print_of(const std::array<std::uint64_t, n>& fields) {
  return XXH3_64bits(fields.data(), sizeof fields) | 1U;
}

template <class Number>
std::uint64_t word(Number number) {
  return static_cast<std::uint64_t>(number);
}

std::uint64_t print_of(const Sample& sample) {
  // The halves of one product each: cheaper than a general hash, and computed for every sample.
  std::uint64_t h = word(to_ns(sample.at)) * 0x9E3779B97F4A7C15ULL;
  h = (h ^ (h >> 32U) ^ word(sample.series)) * 0xD6E8FEB86659FD93ULL;
  h = (h ^ (h >> 32U) ^ std::bit_cast<std::uint64_t>(sample.value)) * 0x9E3779B97F4A7C15ULL;
  return (h ^ (h >> 32U)) | 1U;
}

std::uint64_t print_of(const Span& span) {
  return print_of(std::array{
      word(to_ns(span.start)), word(span.duration.count()), word(span.step), word(span.subject),
      word(span.name), word(span.phase), word(span.worker), word(span.process), word(span.thread),
      word(span.kind), word(span.mode), word(span.origin), word(span.layer)});
}

}  // namespace

bool RecentSamples::add(const Sample& sample) {
  if (prints_.empty()) prints_.resize(kSets * kWays);
  const std::uint64_t print = print_of(sample);
  const Set set = set_of(print);
  if (std::find(set, set + kWays, print) != set + kWays) return false;
  insert(set, print);
  if (!anew_) note_unsaved(print);
  return true;
}

void RecentSamples::note_unsaved(std::uint64_t print) {
  unsaved_.push_back(print);
  if (saved_since_ + unsaved_.size() < kMostSince) return;
  anew_ = true;
  unsaved_ = {};  // thousands of lanes need not keep its memory
}

void RecentSamples::save(StateRows& rows, std::string_view prefix, bool all) {
  const bool anew = all || anew_;
  if (prints_.empty() || (unsaved_.empty() && !anew)) return;
  if (anew) {
    rows.remove_numbered(prefix, rows_);
    rows_ = saved_since_ = 0;
  }
  rows.put(numbered_row(prefix, rows_++), [&](StateIo& io) { io(anew ? prints_ : unsaved_); });
  if (!anew) saved_since_ += static_cast<std::uint32_t>(unsaved_.size());
  unsaved_ = {};
  anew_ = false;
}

bool RecentSamples::load(std::uint64_t number, StateIo io) {
  std::vector<std::uint64_t> prints;
  io(prints);
  if (!io.complete() || number != rows_) return false;
  ++rows_;
  anew_ = false;
  if (number == 0) {
    prints_ = std::move(prints);
    return prints_.size() == kSets * kWays;
  }
  for (const std::uint64_t print : prints) insert(set_of(print), print);
  saved_since_ += static_cast<std::uint32_t>(prints.size());
  return true;
}

bool RecentSpans::add(const Span& span) {
  if (prints_.empty()) {
    prints_.resize(kKept);
    count_prints();
  }
  const std::uint64_t print = print_of(span);
  if (holds(print)) return false;
  --by_high_byte_[prints_[next_] >> 56U];
  ++by_high_byte_[print >> 56U];
  prints_[next_] = print;
  next_ = (next_ + 1) % kKept;
  return true;
}

bool RecentSpans::holds(std::uint64_t print) const {
  return by_high_byte_[print >> 56U] != 0 &&
         std::find(prints_.begin(), prints_.end(), print) != prints_.end();
}

void RecentSpans::count_prints() {
  by_high_byte_.assign(prints_.empty() ? 0 : 256, 0);
  for (const std::uint64_t print : prints_) ++by_high_byte_[print >> 56U];
}

void RecentSpans::state(StateIo& io) {
  io(prints_);
  io(next_);
  if ((prints_.empty() || prints_.size() == kKept) && next_ < kKept) {
    if (io.is_loading()) count_prints();
    return;
  }
  prints_.clear();
  next_ = 0;
  io.fail();
}

}  // namespace trainwatch
