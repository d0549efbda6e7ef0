// What an analysis says of the last cycles of each rank.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pipeline/analysis/names.h"
#include "pipeline/analysis/per_rank.h"
#include "trainwatch/cycle_trace.h"

namespace trainwatch {

// How a row of a table says which cycle it is about.
struct CycleKey {
  std::int32_t rank = kNoRank;
  std::int64_t cycle = 0;
  std::string node;  // as in rank_name()
};

template <class Result>
class CycleResults {
 public:
  static constexpr std::size_t kKept = 8;  // cycles of a rank

  explicit CycleResults(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), ranks_(vocabulary) {}

  void add(const CycleTrace& cycle, Result result) {
    std::deque<Entry>* const entries = ranks_.of(cycle.subject);
    if (entries == nullptr) return;
    if (entries->size() == kKept) entries->pop_front();
    entries->push_back({cycle.number, std::move(result)});
  }

  // Calls `use(key, result)` by rank, node and cycle.
  template <class Use>
  void each(Use&& use) const {
    std::vector<std::pair<CycleKey, const Result*>> ordered;
    for (const auto& [subject, entries] : ranks_.all()) {
      for (const Entry& entry : entries) {
        ordered.emplace_back(CycleKey{vocabulary_.subjects[subject].rank, entry.cycle,
                                      rank_name(vocabulary_, subject)},
                             &entry.result);
      }
    }
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
      const auto place = [](const CycleKey& key) {
        return std::tie(key.rank, key.node, key.cycle);
      };
      return place(a.first) < place(b.first);
    });
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
