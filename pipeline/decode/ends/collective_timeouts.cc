// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/ends/collective_timeouts.h"

#include <algorithm>
#include <bit>

namespace trainwatch {
namespace {

constexpr std::size_t kBitsOfWord = 64;

}  // namespace

void CollectiveTimeouts::waited(std::int32_t rank) {
  if (rank < 0 || rank >= kMostRanks) return;
  const auto bit = static_cast<std::size_t>(rank);
  if (bit / kBitsOfWord >= said_.size()) said_.resize(bit / kBitsOfWord + 1);
  std::uint64_t& word = said_[bit / kBitsOfWord];
  const std::uint64_t mask = std::uint64_t{1} << bit % kBitsOfWord;
  if ((word & mask) == 0) ++waited_;
  word |= mask;
  highest_ = std::max(highest_, rank);
}

void CollectiveTimeouts::progress(std::int32_t rank, std::int64_t enqueued) {
  if (rank < 0 || rank >= kMostRanks) return;
  most_ = std::max(most_, enqueued);
  if (behind_ != kNoRank && enqueued >= least_) return;
  behind_ = rank;
  least_ = enqueued;
}

std::int32_t CollectiveTimeouts::absent() const {
  if (behind_ != kNoRank && least_ < most_) return behind_;
  if (waited_ < 2 || waited_ != highest_) return kNoRank;  // of highest_ + 1 ranks
  for (std::size_t i = 0; i < said_.size(); ++i) {
    const auto rank = i * kBitsOfWord + static_cast<std::size_t>(std::countr_one(said_[i]));
    if (rank < (i + 1) * kBitsOfWord) return static_cast<std::int32_t>(rank);
  }
  return kNoRank;
}

void CollectiveTimeouts::state(StateIo& io) {
  io(said_);
  io(waited_);
  io(highest_);
  io(behind_);
  io(least_);
  io(most_);
  const bool possible = said_.size() <= kMostRanks / kBitsOfWord && highest_ < kMostRanks;
  if (!possible) io.fail();
}

}  // namespace trainwatch
