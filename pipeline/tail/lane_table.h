// SPDX-License-Identifier: Apache-2.0
// The lanes of the known files: their numbers, up to which file each is retired, and when one of
// its files was there last.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pipeline/tail/known_file.h"
#include "pipeline/tail/lane.h"
#include "trainwatch/time.h"

namespace trainwatch {

class LaneTable {
 public:
  // The number of the lane with this name; a new lane gets one that no other lane has.
  LaneId intern(const std::string& name, Nanos now);
  const std::string& name(LaneId lane) const { return *at(lane).name; }

  // Restores what was known before a restart. Call before the first intern().
  void restore(const std::vector<LaneCheckpoint>& saved);
  // The lane continues under the name of its tree, which was moved or mounted elsewhere, unless
  // another lane has that name.
  void rename(LaneId lane, const std::string& name);

  // None of its files up to this one is read again; of a single file, unless it has more than
  // `size` bytes.
  void retire(LaneId lane, const ReadOrder& last, bool single, std::uint64_t size);
  // True if this file or a later one of its lane was retired. The file is there.
  bool was_retired(const FilePlace& place, Nanos now);
  // True if it is alone in its lane, was retired, and has grown since.
  bool outgrew(const FilePlace& place, std::uint64_t size) const;

  // One of its files is there, or is expected to come back.
  void saw(LaneId lane, Nanos now) { at(lane).seen = now; }
  // Forgets the lanes of which nothing was there for `patience`, and returns them: their numbers
  // are given to others from now on. `may_exist`: whether nothing is known about that path.
  std::vector<LaneId> forget_vanished(Nanos now, Nanos patience,
                                      const std::function<bool(const std::string&)>& may_exist);

  std::size_t size() const { return lanes_.size(); }

 private:
  struct Lane {
    LaneId id{};
    const std::string* name = nullptr;   // its key in lanes_
    std::unique_ptr<ReadOrder> retired;  // up to and including this one; null: none
    // Of a single file: what was read of it; unknown after a restart.
    std::uint64_t retired_size = std::numeric_limits<std::uint64_t>::max();
    Nanos seen{0};
  };

  Lane& at(LaneId lane) const { return *by_id_[static_cast<std::size_t>(lane)]; }
  void forget(LaneId lane);

  std::unordered_map<std::string, Lane> lanes_;
  std::vector<Lane*> by_id_;  // values of lanes_, which stay where they are; null: a free number
  std::vector<LaneId> free_;  // those below by_id_.size()
};

}  // namespace trainwatch
