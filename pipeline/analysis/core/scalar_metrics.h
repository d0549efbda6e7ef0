// SPDX-License-Identifier: Apache-2.0
// The last value of every tag that a job logs, as /metrics shows it. Rules do not read it.
//
// Tags are text from files: the family has at most kMaxSeries series, those that came first, and
// each subject at most kMostTags. The others are counted and not shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "pipeline/analysis/core/metric_families.h"
#include "trainwatch/interner.h"
#include "trainwatch/scalar.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class ScalarMetrics {
 public:
  static constexpr std::size_t kMostTags = 64;  // of a subject

  explicit ScalarMetrics(const Interner& interner) : interner_(interner) {}

  void on(const Scalar& scalar);

  // Appends the family. At the lowest level only what a rule understands is shown: tags of a kind.
  void collect(const MetricsView& view, std::vector<MetricFamily>& out) const;

  // Series that had no room.
  std::uint64_t series_dropped() const { return dropped_; }

  // True if the state changed since the last call.
  bool take_changed() { return std::exchange(changed_, false); }
  void state(StateIo& io);

 private:
  struct Latest {
    double value = 0;
    ScalarKind kind = ScalarKind::other;
    void state(StateIo& io) {
      io(value);
      io(kind);
      if (kind >= ScalarKind::count_) io.fail();
    }
  };

  // The series without room that were counted; further ones than it holds are not.
  class LeftOutTags {
   public:
    // True if it is the first time.
    bool add(SubjectId subject, Symbol tag) {
      return known_.size() < kMaxSeries && known_.emplace(subject, tag).second;
    }

   private:
    std::set<std::pair<SubjectId, Symbol>> known_;
  };

  const Interner& interner_;
  std::map<SubjectId, std::map<Symbol, Latest>> latest_;
  std::size_t series_ = 0;
  LeftOutTags left_out_;  // since the start; which they were is not saved
  std::uint64_t dropped_ = 0;
  bool changed_ = false;
};

}  // namespace trainwatch
