// SPDX-License-Identifier: Apache-2.0
// Holds the events of one lane whose times do not fit the previous ones. Either such a time is
// wrong, or the lane continues elsewhere: after a pause, or with another clock. The next events
// decide, so they are held in groups that agree with each other.
//
// Bounded: kMaxGroups groups of fewer than `agree` events; the smallest group is evicted.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/timestamps/event_time.h"

namespace trainwatch {

class Quarantine {
 public:
  static constexpr std::size_t kMaxGroups = 4;
  static constexpr std::size_t kMaxEvents = 256;

  bool empty() const { return held_.empty(); }

  // Adds the event to the group that it agrees with, or starts a group; returns the size of the
  // group. `gap` is how far ahead of the lane the event is. Infrequent events are also far from
  // each other: a group far from the previous events may have gaps twice as long. Evicted events
  // are appended to `rejected`.
  std::size_t hold(const Event& event, EventTime time, Nanos gap,
                   const TimestampFilterOptions& options, EventBatch& rejected);

  // The size of the largest group, 0 if there is none.
  std::size_t largest() const;

  // Accepts the largest group, the youngest of equal ones, and the groups that lead up to it:
  // earlier in arrival and in time, but not before `after`. Rejects the others. Both lists are in
  // order of arrival.
  void accept(Time after, EventBatch& accepted, EventBatch& rejected);

  void reject_all(EventBatch& rejected);

  void state(StateIo& io);

 private:
  struct Group {
    Time first{};  // start of the event that arrived first
    Time newest{};
    Nanos gap{};
    std::uint32_t events = 0;  // 0: a free slot
    void state(StateIo& io);
  };
  struct Held {
    Event event;
    std::uint32_t group = 0;
  };

  static bool agrees(const Group& group, EventTime time, const TimestampFilterOptions& options);
  // From the nearest group before it; 0 if there is none within kLongestPause.
  Nanos distance_to_groups(EventTime time) const;
  std::size_t free_group(EventBatch& rejected);
  void clear();
  std::size_t first_held(std::size_t group) const;
  std::size_t last_held(std::size_t group) const;
  bool on_the_way(std::size_t group, std::size_t to, Time after) const;

  std::vector<Group> groups_;
  std::vector<Held> held_;  // in order of arrival
};

}  // namespace trainwatch
