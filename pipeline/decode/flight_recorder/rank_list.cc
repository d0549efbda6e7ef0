// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/flight_recorder/rank_list.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace trainwatch {

RankList::RankList(std::vector<std::int32_t> ranks) {
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  size_ = ranks.size();
  std::vector<Run> runs;
  for (const std::int32_t rank : ranks) {
    Run* const run = runs.empty() ? nullptr : &runs.back();
    if (run != nullptr && run->count == 1) run->step = rank - run->first;
    if (run != nullptr && rank == run->last() + run->step) {
      ++run->count;
    } else {
      runs.push_back({rank, 1, 1});
    }
  }
  runs.shrink_to_fit();
  if (!runs.empty()) runs_ = std::make_shared<const std::vector<Run>>(std::move(runs));
}

const std::vector<RankList::Run>& RankList::runs() const {
  static const std::vector<Run> kNone;
  return runs_ == nullptr ? kNone : *runs_;
}

bool RankList::contains(std::int32_t rank) const {
  const auto after = std::ranges::upper_bound(runs(), rank, {}, &Run::first);
  if (after == runs().begin()) return false;
  const Run& run = *std::prev(after);
  return rank <= run.last() && (rank - run.first) % run.step == 0;
}

std::vector<std::int32_t> RankList::all() const {
  std::vector<std::int32_t> ranks;
  ranks.reserve(size_);
  for (const Run& run : runs()) {
    for (std::int32_t i = 0; i < run.count; ++i) ranks.push_back(run.first + i * run.step);
  }
  return ranks;
}

void RankList::state(StateIo& io) {
  std::vector<Run> saved = runs();
  io(saved);
  size_ = 0;
  std::int64_t before = -1;
  for (const Run& run : saved) {
    const bool possible = run.first > before && run.step > 0 && run.count > 0 &&
                          run.last() <= std::numeric_limits<std::int32_t>::max();
    size_ += possible ? static_cast<std::size_t>(run.count) : 0;
    if (!possible || size_ > kMostLoaded) return io.fail();
    before = run.last();
  }
  if (io.is_loading()) {
    runs_ = saved.empty() ? nullptr : std::make_shared<const std::vector<Run>>(std::move(saved));
  }
}

}  // namespace trainwatch
