// What an analysis says of the last cycles of each rank.
#pragma once

#include <algorithm>
#include <compare>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/analysis/names.h"
#include "pipeline/analysis/per_rank.h"
#include "trainwatch/cycle_trace.h"

namespace trainwatch {

// How a row of a table says which cycle it is about.
struct CycleKey {
  std::optional<std::int32_t> rank;  // none where nothing says it
  std::string node;
  std::int64_t cycle = 0;

  auto operator<=>(const CycleKey&) const = default;
};

template <class Result>
class CycleResults {
 public:
  static constexpr std::size_t kKept = 8;  // cycles of a rank

  explicit CycleResults(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), ranks_(vocabulary) {}

  // False when there are too many ranks.
  bool add(const CycleTrace& cycle, Result result) {
    std::deque<Entry>* const entries = ranks_.of(cycle.subject);
    if (entries == nullptr) return false;
    if (entries->size() == kKept) entries->pop_front();
    entries->push_back({cycle.number, std::move(result)});
    return true;
  }

  // Calls `use(key, result)` by rank, node and cycle.
  template <class Use>
  void each(Use&& use) const {
    std::vector<std::pair<CycleKey, const Result*>> ordered;
    for (const auto& [subject, entries] : ranks_.all()) {
      const Subject& who = vocabulary_.subjects[subject];
      std::optional<std::int32_t> rank;
      if (who.rank != kNoRank) rank = who.rank;
      for (const Entry& entry : entries)
        ordered.emplace_back(CycleKey{rank, who.node, entry.cycle}, &entry.result);
    }
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [key, result] : ordered) use(key, *result);
  }

  void state(StateIo& io) {
    ranks_.state(io, [&](std::deque<Entry>& entries) {
      io(entries);
      if (entries.size() > kKept) io.fail();
    });
  }

 private:
  struct Entry {
    std::int64_t cycle = 0;
    Result result{};

    void state(StateIo& io) {
      io(cycle);
      io(result);
    }
  };

  const Vocabulary& vocabulary_;
  PerRank<std::deque<Entry>> ranks_;
};

}  // namespace trainwatch
