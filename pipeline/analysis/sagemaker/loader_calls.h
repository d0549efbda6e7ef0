// SPDX-License-Identifier: Apache-2.0
// Calls of one kind in the loading of data: how many, how long, and the longest of those that took
// twice the median or more, SageMaker's definition of an outlier.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "pipeline/analysis/table_cells.h"
#include "trainwatch/event.h"
#include "trainwatch/figures.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/distribution.h"

namespace trainwatch {

// What the names of PyTorch's calls for the next batch contain.
inline constexpr std::string_view kTorchGetNext = "DataLoaderIter::GetNext";

class LoaderCalls {
 public:
  static constexpr std::size_t kExact = 4096;   // calls, for the median
  static constexpr std::size_t kLongest = 100;  // calls that are remembered

  struct Call {
    Time start{};
    Nanos duration{};
    Time before = kNoTime;  // what `start` is compared with, where there is something
    std::int32_t worker = kNoWorker;
    SubjectId subject = SubjectId::none;
  };

  // What add() did to the calls that are remembered.
  struct Change {
    bool remembered = false;
    std::optional<Call> forgotten{};
  };
  Change add(const Call& call) {
    durations_.add(static_cast<double>(call.duration.count()) / 1e3);
    const auto place = std::upper_bound(longest_.begin(), longest_.end(), call, comes_first);
    if (place == longest_.end() && longest_.size() == kLongest) return {};
    longest_.insert(place, call);
    if (longest_.size() <= kLongest) return {true};
    const Call forgotten = longest_.back();
    longest_.pop_back();
    return {true, forgotten};
  }

  std::uint64_t count() const { return durations_.count(); }

  struct Summary {
    double median = 0;  // microseconds, as the others
    double max = 0;
    std::uint64_t outliers = 0;
  };
  Summary summary() const {
    if (durations_.count() == 0) return {};
    const auto sorted = durations_.sorted();
    Summary summary{sorted.quantile(0.5), durations_.max(), 0};
    if (summary.median > 0) summary.outliers = sorted.count_at_least(2 * summary.median);
    return summary;
  }

  // Calls `use(call)` for the outliers that are remembered, the longest first.
  template <class Use>
  void each_outlier(const Summary& summary, Use&& use) const {
    for (const Call& call : longest_) {
      const double duration = static_cast<double>(call.duration.count()) / 1e3;
      if (summary.median > 0 && duration >= 2 * summary.median) use(call);
    }
  }

  void state(StateIo& io, const Interner& interner) {
    io(durations_);
    io(longest_);
    if (longest_.size() > kLongest) io.fail();
    for (const Call& call : longest_) {
      if (!is_known(interner, call.subject)) io.fail();
    }
  }

 private:
  static bool comes_first(const Call& a, const Call& b) {
    return std::tuple(b.duration, a.start, a.subject, a.worker) <
           std::tuple(a.duration, b.start, b.subject, b.worker);
  }

  Distribution durations_{kExact};  // microseconds
  std::vector<Call> longest_;       // longest first
};

// "count", "median_us", "max_us", "outlier_count" and the table "outliers".
inline void add_loader_calls(Figures& out, const Interner& interner, const LoaderCalls& calls) {
  const LoaderCalls::Summary summary = calls.summary();
  out.add("count", calls.count()).add("median_us", summary.median);
  out.add("max_us", summary.max).add("outlier_count", summary.outliers);
  FigureTable& table =
      out.table("outliers", {"start_time_us", "end_time_us", "duration_us", "worker_id", "nodeID"});
  calls.each_outlier(summary, [&](const LoaderCalls::Call& call) {
    table.row(to_us(call.start), to_us(call.start + call.duration), to_us(call.duration),
              call.worker, rank_name(interner, call.subject));
  });
}

}  // namespace trainwatch
