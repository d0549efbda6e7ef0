// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timestamps/quarantine.h"

#include <algorithm>

#include "pipeline/timestamps/event_time.h"

namespace trainwatch {

void Quarantine::Group::state(StateIo& io) {
  io(first);
  io(newest);
  io(gap);
  io(events);
  if (implausible({first, std::max(first, newest)}) || gap < Nanos{0}) io.fail();
}

bool Quarantine::agrees(const Group& group, EventTime time, const TimestampFilterOptions& options) {
  if (time.end < group.first - options.lateness) return false;
  const Nanos ahead = time.start - group.newest;
  return ahead <= options.max_ahead || ahead / 2 <= group.gap;
}

std::size_t Quarantine::hold(const Event& event, EventTime time, Nanos gap,
                             const TimestampFilterOptions& options, EventBatch& rejected) {
  std::size_t group = 0;
  while (group < groups_.size() &&
         (groups_[group].events == 0 || !agrees(groups_[group], time, options))) {
    ++group;
  }
  if (group == groups_.size()) {
    const Nanos apart = std::max(gap, distance_to_groups(time));
    group = free_group(rejected);
    groups_[group] = {time.start, time.start, apart, 0};
  }
  Group& joined = groups_[group];
  joined.newest = std::max(joined.newest, std::min(time.end, time.start + kLongestPause));
  held_.push_back({event, static_cast<std::uint32_t>(group)});
  return ++joined.events;
}

Nanos Quarantine::distance_to_groups(EventTime time) const {
  Nanos least = Nanos::max();
  for (const Group& group : groups_) {
    const bool before = group.events > 0 && group.newest <= time.start;
    if (before) least = std::min(least, time.start - group.newest);
  }
  return least <= kLongestPause ? least : Nanos{0};
}

std::size_t Quarantine::free_group(EventBatch& rejected) {
  const auto smallest =
      std::min_element(groups_.begin(), groups_.end(),
                       [](const Group& a, const Group& b) { return a.events < b.events; });
  if (smallest != groups_.end() && (smallest->events == 0 || groups_.size() == kMaxGroups)) {
    const auto group = static_cast<std::size_t>(smallest - groups_.begin());
    std::erase_if(held_, [&](const Held& held) {
      if (held.group == group) rejected.push_back(held.event);
      return held.group == group;
    });
    return group;
  }
  groups_.emplace_back();
  return groups_.size() - 1;
}

std::size_t Quarantine::largest() const {
  std::size_t events = 0;
  for (const Group& group : groups_) events = std::max<std::size_t>(events, group.events);
  return events;
}

std::size_t Quarantine::first_held(std::size_t group) const {
  const auto first = std::find_if(held_.begin(), held_.end(),
                                  [&](const Held& held) { return held.group == group; });
  return static_cast<std::size_t>(first - held_.begin());
}

std::size_t Quarantine::last_held(std::size_t group) const {
  const auto last = std::find_if(held_.rbegin(), held_.rend(),
                                 [&](const Held& held) { return held.group == group; });
  return static_cast<std::size_t>(held_.rend() - last) - 1;
}

bool Quarantine::on_the_way(std::size_t group, std::size_t to, Time after) const {
  const Group& goal = groups_[to];
  const Group& stage = groups_[group];
  return stage.events > 0 && stage.first >= after && stage.newest <= goal.first &&
         goal.first - stage.newest <= kLongestPause && last_held(group) < first_held(to);
}

void Quarantine::accept(Time after, EventBatch& accepted, EventBatch& rejected) {
  const std::size_t events = largest();
  std::size_t goal = groups_.size();
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (groups_[group].events != events) continue;
    if (goal == groups_.size() || first_held(group) > first_held(goal)) goal = group;
  }
  std::vector<bool> let_go(groups_.size());
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    let_go[group] = group == goal || on_the_way(group, goal, after);
  }
  for (const Held& held : held_) (let_go[held.group] ? accepted : rejected).push_back(held.event);
  clear();
}

void Quarantine::reject_all(EventBatch& rejected) {
  for (const Held& held : held_) rejected.push_back(held.event);
  clear();
}

void Quarantine::clear() {
  groups_.clear();
  held_.clear();
}

void Quarantine::state(StateIo& io) {
  io(groups_);
  auto count = static_cast<std::uint32_t>(held_.size());
  io(count);
  if (groups_.size() > kMaxGroups || count > kMaxEvents) io.fail();
  if (io.is_loading()) held_.assign(io.ok() ? count : 0, {});
  bool gone = false;
  for (Held& held : held_) {
    event_state(io, held.event);
    gone = gone || io.take_gone();
    io(held.group);
    const auto time = time_of(held.event);
    if (!time || implausible(*time) || held.group >= groups_.size()) io.fail();
    if (!io.ok()) break;
  }
  for (std::size_t group = 0; group < groups_.size() && io.ok(); ++group) {
    const auto events = std::count_if(held_.begin(), held_.end(),
                                      [&](const Held& held) { return held.group == group; });
    if (groups_[group].events != static_cast<std::uint32_t>(events)) io.fail();
  }
  if (!io.ok() || gone) clear();
}

}  // namespace trainwatch
