// SPDX-License-Identifier: Apache-2.0
// Divides a table of limited size among those who fill it, so that nobody can take what others
// need.
//
// Three quarters are given out by dynamic thresholds: a holder may take more as long as it has less
// than is free of them, so nobody has to know how many holders there will be (Choudhury and Hahne,
// "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998). Here at two levels at
// once: what a lane and what its folder hold count together, so that one lane gets a quarter of the
// table and one folder three eighths. As nothing is given back for a day, each greedy folder leaves
// half of that to the next; the last quarter is therefore given out in small portions, one for each
// folder.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trainwatch/state_io.h"

namespace trainwatch {

// The files of one writer, and the folder of its job.
struct Holder {
  std::uint32_t lane = 0;
  std::uint32_t folder = 0;

  auto operator<=>(const Holder&) const = default;
  void state(StateIo& io) {
    io(lane);
    io(folder);
  }
};

// trainwatch itself, which may take whatever is free.
inline constexpr Holder kNobody{};

// Room in a table.
struct Room {
  std::size_t entries = 0;
  std::size_t bytes = 0;  // 0 where only entries count
};

// Of one table, whose entries are numbered from 0.
class Shares {
 public:
  // Who takes from now on.
  void set_holder(Holder holder) { holder_ = holder; }
  Holder holder() const { return holder_; }

  // Whether there is room for a new entry that needs so much in a table that has `used` of `limit`.
  bool may_take(Room needed, Room used, Room limit) const {
    if (holder_ == kNobody) {
      return used.entries + needed.entries <= limit.entries &&
             used.bytes + needed.bytes <= limit.bytes;
    }
    const Room lane = held(lanes_, holder_.lane);
    const Room folder = held(folders_, holder_.folder);
    return fits(needed.entries, used.entries, limit.entries, lane.entries, folder.entries) &&
           fits(needed.bytes, used.bytes, limit.bytes, lane.bytes, folder.bytes);
  }
  // An entry had no room.
  void refuse() { ++refused_; }
  std::uint64_t refused() const { return refused_; }

  // The next entry of the table is that of `holder`.
  void add(Holder holder, std::size_t bytes = 0) {
    holders_.push_back(holder);
    count(holder, bytes);
  }
  Holder holder_of(std::size_t entry) const { return holders_[entry]; }

  // Counts on from there.
  void keep_refused(const Shares& before) { refused_ = before.refused_; }

  // `bytes_of`: of an entry, by its number, of which the table has loaded `entries`.
  template <class Bytes>
  void state(StateIo& io, std::size_t entries, Bytes&& bytes_of) {
    io(holders_);
    io(refused_);
    if (!io.is_loading()) return;
    if (holders_.size() != entries) return io.fail();
    lanes_.clear();
    folders_.clear();
    for (std::size_t i = 0; i < entries; ++i) count(holders_[i], bytes_of(i));
  }
  void state(StateIo& io, std::size_t entries) {
    state(io, entries, [](std::size_t) { return std::size_t{0}; });
  }

 private:
  static constexpr std::size_t kPortions = 256;

  static bool fits(std::size_t needed, std::size_t used, std::size_t limit, std::size_t lane,
                   std::size_t folder) {
    if (used + needed > limit) return false;
    const std::size_t kept = limit / 4;
    return lane + folder + needed + kept <= limit - used || folder + needed <= limit / kPortions;
  }

  using Held = std::unordered_map<std::uint32_t, Room>;

  static Room held(const Held& all, std::uint32_t holder) {
    const auto known = all.find(holder);
    return known == all.end() ? Room{} : known->second;
  }
  void count(Holder holder, std::size_t bytes) {
    if (holder == kNobody) return;
    for (Room* const room : {&lanes_[holder.lane], &folders_[holder.folder]}) {
      ++room->entries;
      room->bytes += bytes;
    }
  }

  Holder holder_;
  std::vector<Holder> holders_;  // by entry
  Held lanes_;
  Held folders_;
  std::uint64_t refused_ = 0;
};

}  // namespace trainwatch
