// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/flight_recorder/rank_list.h"

#include <algorithm>
#include <limits>

namespace trainwatch {

RankList::RankList(std::vector<std::int32_t> ranks) {
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  size_ = ranks.size();
  for (const std::int32_t rank : ranks) {
    Run* const run = runs_.empty() ? nullptr : &runs_.back();
    if (run != nullptr && run->count == 1) run->step = rank - run->first;
    if (run != nullptr && rank == run->last() + run->step) {
      ++run->count;
    } else {
      runs_.push_back({rank, 1, 1});
    }
  }
}

bool RankList::contains(std::int32_t rank) const {
  const auto after = std::ranges::upper_bound(runs_, rank, {}, &Run::first);
  if (after == runs_.begin()) return false;
  const Run& run = *std::prev(after);
  return rank <= run.last() && (rank - run.first) % run.step == 0;
}

std::vector<std::int32_t> RankList::all() const {
  std::vector<std::int32_t> ranks;
  ranks.reserve(size_);
  for (const Run& run : runs_) {
    for (std::int32_t i = 0; i < run.count; ++i) ranks.push_back(run.first + i * run.step);
  }
  return ranks;
}

void RankList::state(StateIo& io) {
  io(runs_);
  size_ = 0;
  std::int64_t before = -1;
  for (const Run& run : runs_) {
    const bool possible = run.first > before && run.step > 0 && run.count > 0 &&
                          run.last() <= std::numeric_limits<std::int32_t>::max();
    size_ += possible ? static_cast<std::size_t>(run.count) : 0;
    if (!possible || size_ > kMostLoaded) return io.fail();
    before = run.last();
  }
}

}  // namespace trainwatch
