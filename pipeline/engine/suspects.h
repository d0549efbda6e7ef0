// The events of one lane whose times do not fit what came before them. Either the time of such an
// event is wrong, or the lane went on elsewhere: after a pause, or with another clock. What comes
// next tells, so they are held in groups of events that agree with each other.
//
// Bounded: kMaxGroups groups of less than `agree` events; the smallest group makes room.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/engine/event_time.h"
#include "pipeline/engine/time_gate_options.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

class Suspects {
 public:
  static constexpr std::size_t kMaxGroups = 4;
  static constexpr std::size_t kMaxEvents = 256;

  bool empty() const { return held_.empty(); }

  // Holds the event with the group that it agrees with, or begins a group; answers how many this
  // has now. `gap` is how far ahead of the lane the event is. Events that are rare are far from
  // each other as well: a group that is far from what came before it may have gaps twice as long.
  // What makes room is added to `rejected`.
  std::size_t hold(const Event& event, EventTime time, Nanos gap, const TimeGateOptions& options,
                   EventBatch& rejected);

  // How many events the largest group has, 0 when there is none.
  std::size_t largest() const;

  // Lets the largest group go, the youngest of several, and before it the groups that came before
  // it in arrival and in time, but not before `after`: they lie on the way. The others are
  // rejected. Both lists are in order of arrival.
  void believe(Time after, EventBatch& believed, EventBatch& rejected);

  void reject_all(EventBatch& rejected);

  void state(StateIo& io, const Vocabulary& vocabulary);

 private:
  struct Group {
    Time first{};  // start of the one that arrived first
    Time newest{};
    Nanos gap{};
    std::uint32_t events = 0;  // 0: the place is free
    void state(StateIo& io);
  };
  struct Held {
    Event event;
    std::uint32_t group = 0;
  };

  static bool agrees(const Group& group, EventTime time, const TimeGateOptions& options);
  // From the nearest group before it; 0 when there is none within kLongestPause.
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
