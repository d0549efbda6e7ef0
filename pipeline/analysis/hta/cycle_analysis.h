// SPDX-License-Identifier: Apache-2.0
// An analysis of cycles: one result per cycle, kept for the latest cycles of each rank, and the
// numbers of its tables, rounded as HTA does.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/analysis/per_rank.h"
#include "pipeline/analysis/table_cells.h"
#include "pipeline/cycle/step_selection.h"
#include "trainwatch/analysis.h"
#include "trainwatch/cycle_trace.h"

namespace trainwatch {

// How a row of a table says which cycle it is about.
struct CycleKey {
  std::optional<std::int32_t> rank;  // none where nothing says it
  std::string node;                  // or "node:process", without a rank
  std::int64_t cycle = 0;

  auto operator<=>(const CycleKey&) const = default;
};

template <class Result>
class CycleResults {
 public:
  static constexpr std::size_t kKept = 8;  // cycles of a rank

  explicit CycleResults(const Interner& interner) : interner_(interner), ranks_(interner) {}

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
    for (const auto& [key, result] : by_key()) use(key, *static_cast<const Result*>(result));
  }

  void state(StateIo& io) {
    ranks_.state(io, [&](std::deque<Entry>& entries) {
      io(entries);
      if (entries.size() > kKept) io.fail();
    });
  }

 private:
  // Pointers without the type of the result: one map to compile instead of one per analysis.
  using ByKey = std::multimap<CycleKey, const void*>;

  struct Entry {
    std::int64_t cycle = 0;
    Result result{};
  };

  ByKey by_key() const {
    ByKey results;
    for (const auto& [subject, entries] : ranks_.all()) {
      const Subject& who = interner_.subjects[subject];
      std::optional<std::int32_t> rank;
      if (who.rank != kNoRank) rank = who.rank;
      for (const Entry& entry : entries) {
        results.emplace(CycleKey{rank, writer_name(who), entry.cycle}, &entry.result);
      }
    }
    return results;
  }

  const Interner& interner_;
  PerRank<std::deque<Entry>> ranks_;
};

// Half to even, as numpy does.
inline double rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::nearbyint(value * scale) / scale;
}

// NaN, which is written as null, where there is no whole.
inline double percentage(std::int64_t part, std::int64_t whole, int digits) {
  if (whole == 0) return std::numeric_limits<double>::quiet_NaN();
  return rounded(100 * static_cast<double>(part) / static_cast<double>(whole), digits);
}

inline std::optional<std::int64_t> whole_ns(double ns) {
  if (!std::isfinite(ns)) return std::nullopt;
  return std::llround(ns);
}

// Collects one Result per cycle.
template <class Result>
class CycleAnalysis : public Analysis {
 public:
  CycleAnalysis(const Interner& interner, StepSelection steps)
      : steps_(steps), results_(interner) {}

  void on_cycle(const CycleTrace& cycle) final {
    left_out_ += cycle.left_out;
    Result result = result_of(SelectedCycle(cycle, steps_));
    if (!results_.add(cycle, std::move(result))) ++left_out_;
  }
  void state(StateIo& io) final {
    io(results_);
    io(left_out_);
  }

 protected:
  // The bounded result of a cycle; its state() checks the bound.
  virtual Result result_of(const SelectedCycle& selected) = 0;
  const CycleResults<Result>& results() const { return results_; }

  // A part of a result is beyond a bound, which was not made.
  void leave_out() { ++left_out_; }
  // Drops what is beyond a bound, and counts it.
  template <class Item>
  void bound(std::vector<Item>& items, std::size_t most) {
    if (items.size() <= most) return;
    left_out_ += items.size() - most;
    items.resize(most);
  }
  // The last field of the result.
  void add_left_out(Figures& out) const { out.add("left_out", left_out_); }

 private:
  StepSelection steps_;
  CycleResults<Result> results_;
  std::uint64_t left_out_ = 0;  // rows of cycles, cycles, and parts of results
};

}  // namespace trainwatch
