// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/lane_table.h"

#include <utility>

namespace trainwatch {

LaneId LaneTable::intern(const std::string& name, Nanos now) {
  const auto [entry, is_new] = lanes_.try_emplace(name);
  Lane& lane = entry->second;
  lane.seen = now;
  if (!is_new) return lane.id;
  if (free_.empty()) {
    free_.push_back(static_cast<LaneId>(by_id_.size()));
    by_id_.push_back(nullptr);
  }
  lane.id = free_.back();
  lane.name = &entry->first;
  free_.pop_back();
  by_id_[static_cast<std::size_t>(lane.id)] = &lane;
  return lane.id;
}

void LaneTable::restore(const std::vector<LaneCheckpoint>& saved) {
  for (const LaneCheckpoint& each : saved) {
    const auto number = static_cast<std::size_t>(each.lane);
    if (by_id_.size() <= number) by_id_.resize(number + 1);
    const auto entry = lanes_.try_emplace(each.name).first;
    Lane& lane = entry->second;
    lane.id = each.lane;
    lane.name = &entry->first;
    if (!each.forgotten_path.empty()) {
      lane.retired = std::make_unique<ReadOrder>(place_of(each.forgotten_path).order);
    }
    by_id_[number] = &lane;
  }
  for (std::size_t number = 0; number < by_id_.size(); ++number) {
    if (by_id_[number] == nullptr) free_.push_back(static_cast<LaneId>(number));
  }
}

void LaneTable::rename(LaneId lane, const std::string& name) {
  if (lanes_.contains(name)) return;
  auto node = lanes_.extract(*at(lane).name);
  node.key() = name;
  const auto entry = lanes_.insert(std::move(node)).position;
  entry->second.name = &entry->first;
}

void LaneTable::retire(LaneId id, const ReadOrder& last, bool single, std::uint64_t size) {
  Lane& lane = at(id);
  if (lane.retired != nullptr && *lane.retired >= last) return;
  lane.retired = std::make_unique<ReadOrder>(last);
  if (single) lane.retired_size = size;
}

bool LaneTable::was_retired(const FilePlace& place, Nanos now) {
  const auto lane = lanes_.find(place.lane);
  if (lane == lanes_.end()) return false;
  lane->second.seen = now;
  return lane->second.retired != nullptr && place.order <= *lane->second.retired;
}

bool LaneTable::outgrew(const FilePlace& place, std::uint64_t size) const {
  const auto lane = lanes_.find(place.lane);
  return place.single && lane != lanes_.end() && size > lane->second.retired_size;
}

std::vector<LaneId> LaneTable::forget_vanished(
    Nanos now, Nanos patience, const std::function<bool(const std::string&)>& may_exist) {
  std::vector<LaneId> vanished;
  for (auto& [name, lane] : lanes_) {
    if (lane.retired != nullptr && may_exist(lane.retired->path)) lane.seen = now;
    if (now - lane.seen >= patience) vanished.push_back(lane.id);
  }
  for (const LaneId lane : vanished) forget(lane);
  return vanished;
}

void LaneTable::forget(LaneId lane) {
  Lane*& entry = by_id_[static_cast<std::size_t>(lane)];
  const std::string name = *entry->name;
  entry = nullptr;
  free_.push_back(lane);
  lanes_.erase(name);
}

}  // namespace trainwatch
