// SPDX-License-Identifier: Apache-2.0
// One value per group of system series, found in O(1) from a sample. An analysis says which series
// belong together by leaving out of the key what they may differ in.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "pipeline/analysis/table_cells.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/compensated_sum.h"
#include "trainwatch/time.h"

namespace trainwatch {

struct SeriesGroup {
  SubjectId node = SubjectId::none;
  Symbol type = Symbol::none;
  Symbol dimension = Symbol::none;
  Symbol name = Symbol::none;
  auto operator<=>(const SeriesGroup&) const = default;
};

// For SeriesGroups: a series is its own group.
inline SeriesGroup each_series(const Interner&, SeriesGroup of, const Series&) {
  return of;
}

template <class Value>
class SeriesGroups {
 public:
  using KeyOf = SeriesGroup (*)(const Interner& interner, SeriesGroup of, const Series& series);
  using Entry = std::pair<const SeriesGroup, Value>;

  // `key_of` gets the group that holds this series alone.
  SeriesGroups(const Interner& interner, KeyOf key_of) : interner_(interner), key_of_(key_of) {}

  Entry& of(SeriesId series) {
    const auto index = static_cast<std::size_t>(series);
    if (index < by_series_.size() && by_series_[index] != nullptr) return *by_series_[index];
    return add(series);
  }
  const std::map<SeriesGroup, Value>& all() const { return groups_; }

  void state(StateIo& io) {
    io(groups_);
    if (!io.is_loading()) return;
    by_series_.clear();
    for (const auto& [group, value] : groups_) {
      const bool known = is_known(interner_, group.node) && is_known(interner_, group.type) &&
                         is_known(interner_, group.dimension) && is_known(interner_, group.name);
      if (!known) io.fail();
    }
  }

 private:
  Entry& add(SeriesId id) {
    const auto index = static_cast<std::size_t>(id);
    if (index >= by_series_.size()) by_series_.resize(index + 1);
    const Series& series = interner_.series[id];
    const Subject node = project(interner_.subjects[series.subject], Scope::node);
    const SeriesGroup own{interner_.subjects.find(node), series.type, series.dimension,
                          series.name};
    by_series_[index] = &*groups_.try_emplace(key_of_(interner_, own, series)).first;
    return *by_series_[index];
  }

  const Interner& interner_;
  KeyOf key_of_;
  std::map<SeriesGroup, Value> groups_;
  std::vector<Entry*> by_series_;  // into groups_; null: not looked up yet
};

// Adds up consecutive values of one time: the devices of a node at a tick are one value.
class TickValues {
 public:
  // Calls `close(sum, count)` with the values of the time before when this is another one. NaN and
  // infinities are left out.
  template <class Close>
  void add(Time time, double value, Close&& close) {
    if (time != at_) {
      last(close);
      *this = {};
      at_ = time;
    }
    if (sum_.add(value)) ++count_;
  }
  // The values of the last time: there may be more to come of it.
  template <class Close>
  void last(Close&& close) const {
    if (count_ > 0) close(sum_.value(), count_);
  }

  void state(StateIo& io) {
    io(at_);
    io(sum_);
    io(count_);
  }

 private:
  Time at_ = kNoTime;
  CompensatedSum sum_;
  std::uint64_t count_ = 0;
};

inline double mean_of(double sum, std::uint64_t count) {
  return sum / static_cast<double>(count);
}

}  // namespace trainwatch
