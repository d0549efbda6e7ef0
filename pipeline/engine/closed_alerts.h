// SPDX-License-Identifier: Apache-2.0
// The alerts that ended not long ago: their cause, or the incident that they are part of, may still
// change, headlines count them, and exemplars name them.
//
// Bounded: the last kMost, and of each job those that ended within kKept before its latest; up to
// kEvery others, as these are looked for once for each kEvery alerts. What is kept depends on event
// time only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <string_view>

#include "trainwatch/alert.h"
#include "trainwatch/state_rows.h"
#include "trainwatch/time.h"

namespace trainwatch {

class ClosedAlerts {
 public:
  static constexpr std::size_t kMost = 1024;
  static constexpr Nanos kKept = std::chrono::hours(24);
  static constexpr std::uint64_t kEvery = 64;

  void add(Alert alert);
  // Calls `change(alert)` for those with this id. True: it has changed, and is saved again.
  template <class Change>
  void change(std::string_view id, Change&& change) {
    for (Closed& closed : closed_) {
      if (closed.alert.id == id && change(closed.alert)) changed_.insert(closed.number);
    }
  }
  // Calls visit(alert) for each, oldest first.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const Closed& closed : closed_) visit(closed.alert);
  }

  // Puts what changed since the last call, a row for each alert; `all`: every one.
  void save(StateRows& rows, bool all);
  // Replaces all. False: a row is damaged.
  bool load(const SavedState& saved);

 private:
  struct Closed {
    std::uint64_t number = 0;  // increases
    Alert alert;
  };

  void forget_old();

  std::deque<Closed> closed_;
  std::uint64_t next_number_ = 0;
  std::set<std::uint64_t> changed_;  // or forgotten, since they were last saved
};

}  // namespace trainwatch
