// SPDX-License-Identifier: Apache-2.0
// Which rank never entered the collective that others waited for in vain, from what each of them
// says about itself.
#pragma once

#include <cstdint>
#include <vector>

#include "trainwatch/state_io.h"
#include "trainwatch/subject.h"

namespace trainwatch {

class CollectiveTimeouts {
 public:
  static constexpr std::int32_t kMostRanks = 1 << 14;

  // The rank, as the whole job counts, has waited in vain.
  void waited(std::int32_t rank);
  // How much work it has enqueued.
  void progress(std::int32_t rank, std::int64_t enqueued);

  // The one with less work than others; else the only one that has said nothing, of those up to the
  // highest that has. kNoRank: nothing shows it.
  std::int32_t absent() const;
  bool empty() const { return waited_ == 0; }
  void clear() { *this = {}; }
  void state(StateIo& io);

 private:
  std::vector<std::uint64_t> said_;  // a bit for each rank that has waited
  std::int32_t waited_ = 0;          // ranks
  std::int32_t highest_ = kNoRank;
  std::int32_t behind_ = kNoRank;
  std::int64_t least_ = 0;  // work enqueued by `behind_`
  std::int64_t most_ = 0;
};

}  // namespace trainwatch
