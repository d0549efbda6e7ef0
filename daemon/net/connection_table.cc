// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/connection_table.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace trainwatch {

std::optional<ConnectionTable::Id> ConnectionTable::take_oldest(Phase phase) {
  const auto& list = list_of(phase);
  if (list.empty()) return std::nullopt;
  const Id id = list.front();
  remove(id);
  return id;
}

ConnectionTable::Admission ConnectionTable::admit(const ClientAddress& from,
                                                  Clock::time_point now) {
  const auto known = of_address_.find(from.group);
  if (known != of_address_.end() && known->second >= limits_.per_address) {
    return {std::nullopt, std::nullopt, Limit::per_address};
  }
  std::optional<Id> other;
  if (entries_.size() >= limits_.connections + limits_.reserved) {
    other = take_oldest(Phase::closing);
    if (!other && in(Phase::fresh) < quarter()) other = take_oldest(Phase::idle);
    if (!other) other = take_oldest(Phase::fresh);
    if (!other) return {std::nullopt};
  }
  const Id id = ++last_;
  auto& list = list_of(Phase::fresh);
  entries_.emplace(id, Entry{from, Phase::fresh, now, list.insert(list.end(), id)});
  count(from);
  return {id, other};
}

ConnectionTable::Start ConnectionTable::start(Id id, bool vital, Clock::time_point now) {
  const std::size_t most = std::max<std::size_t>(1, limits_.connections - limits_.connections / 4);
  const std::size_t busy = in(Phase::answering) + in(Phase::waiting) + in(Phase::login);
  Start start{busy < most};
  if (!start.allowed) {
    start.gives_way = drop_reader(false, id, now);
    start.allowed = start.gives_way || (vital && busy < most + limits_.reserved);
  }
  if (!start.allowed && vital) {
    start.gives_way = drop_reader(true, id, now);
    start.allowed = start.gives_way.has_value();
  }
  if (start.allowed) enter(id, Phase::answering, now);
  return start;
}

void ConnectionTable::enter(Id id, Phase phase, Clock::time_point now) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  auto& list = list_of(phase);
  list.splice(list.end(), list_of(entry.phase), entry.place);
  entry.phase = phase;
  entry.since = now;
}

void ConnectionTable::remove(Id id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  const Entry entry = std::move(found->second);
  list_of(entry.phase).erase(entry.place);
  entries_.erase(found);
  forget(entry.from);
}

void ConnectionTable::count(const ClientAddress& from) {
  if (!from.loopback) ++of_address_[from.group];
}

void ConnectionTable::forget(const ClientAddress& from) {
  if (from.loopback) return;
  const auto counted = of_address_.find(from.group);
  assert(counted != of_address_.end());
  if (--counted->second == 0) of_address_.erase(counted);
}

std::optional<ConnectionTable::Id> ConnectionTable::drop_reader(bool however_quick, Id but,
                                                                Clock::time_point now) {
  for (const Id id : list_of(Phase::answering)) {
    if (!however_quick && now - entries_.at(id).since < kSlow) return std::nullopt;
    if (id == but) continue;
    remove(id);
    return id;
  }
  return std::nullopt;
}

}  // namespace trainwatch
