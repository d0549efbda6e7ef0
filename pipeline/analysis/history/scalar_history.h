// SPDX-License-Identifier: Apache-2.0
// The scalars that one job logs, over time: of each rank and tag the points of a curve
// (scalar_points.h). The page and the report draw it; alerts do not depend on it.
//
// Bounded: kMostSeries curves, of which those that say most about the training have precedence
// (loss, validation loss, norm of the gradient, learning rate, times, rates, then the rest);
// kMostPoints points of each, fewer where many curves share the points of the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/analysis/history/scalar_points.h"
#include "trainwatch/scalar.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

// The unit of such values; "" where they have none.
std::string_view unit_of(ScalarKind kind);

class ScalarHistory {
 public:
  static constexpr std::size_t kMostSeries = 64;
  static constexpr std::size_t kMostPoints = 1000;  // of a series

  struct Series {
    SubjectId subject = SubjectId::none;  // job and rank
    Symbol tag = Symbol::none;
    ScalarKind kind = ScalarKind::other;
    ScalarPoints curve{};
  };

  void on(const Scalar& scalar);
  // At most so many points in all, at least 16 of each series.
  void keep(std::size_t points);

  // In no particular order; by_precedence() for one.
  const std::vector<Series>& series() const { return series_; }
  // Whether `a` says more about the training than `b`.
  static bool precedes(ScalarKind a, ScalarKind b);

  // Event time of the latest point; kNoTime: there is none.
  Time latest() const { return latest_; }
  // Series that had no room, or had to make it.
  std::uint64_t dropped() const { return dropped_; }

  // Rows whose keys begin with `prefix`.
  void save(StateRows& rows, const std::string& prefix, bool all);
  void remove(StateRows& rows, const std::string& prefix);
  // Only for a new history. Leaves out the series of ranks that are gone. False: a row is damaged.
  bool load(const SavedState& saved, const std::string& prefix);

 private:
  // Null: there is no room.
  Series* series_of(const Scalar& scalar);
  std::size_t most_each() const;
  void leave_out(SubjectId subject, Symbol tag);
  void thin();
  void totals_state(StateIo& io);

  std::vector<Series> series_;
  std::size_t points_ = kMostSeries * kMostPoints;  // in all
  Time latest_ = kNoTime;
  std::uint64_t dropped_ = 0;
  // Those that were counted, since the start; further ones than it holds are not.
  std::set<std::pair<SubjectId, Symbol>> left_out_;
  bool heads_changed_ = true;
};

}  // namespace trainwatch
