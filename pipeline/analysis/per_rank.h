// SPDX-License-Identifier: Apache-2.0
// One value per rank, for the first kMaxRanks of them. Windows of ranks share a number of entries,
// so that what they take together does not grow with the ranks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "pipeline/analysis/table_cells.h"
#include "trainwatch/state_io.h"
#include "trainwatch/subject_map.h"

namespace trainwatch {

template <class Value>
class PerRank {
 public:
  static constexpr std::size_t kMaxRanks = 1024;

  explicit PerRank(const Interner& interner) : interner_(interner) {}
  PerRank(const PerRank&) = delete;
  PerRank& operator=(const PerRank&) = delete;

  // The value of a rank, made when it is new; null when there are too many.
  Value* of(SubjectId rank) {
    return values_.size() == kMaxRanks ? values_.find(rank) : &values_[rank];
  }
  // The same; calls `trim(value)` for each when share() has become smaller.
  template <class Trim>
  Value* of(SubjectId rank, Trim&& trim) {
    const std::size_t before = values_.size();
    Value* const found = of(rank);
    if (values_.size() > before && std::bit_ceil(values_.size()) > std::bit_ceil(before)) {
      for (auto& [known, value] : values_) trim(value);
    }
    return found;
  }
  const SubjectMap<Value>& all() const { return values_; }

  // How many entries a rank may have: `each` at most, and about `together` all ranks.
  std::size_t share(std::size_t each, std::size_t together) const {
    return std::min(each, together / std::bit_ceil(std::max<std::size_t>(values_.size(), 1)));
  }

  // Calls `state_of(value)` for each, with what is left to check of a loaded one.
  template <class StateOf>
  void state(StateIo& io, StateOf&& state_of) {
    auto count = static_cast<std::uint32_t>(values_.size());
    io(count);
    if (count > kMaxRanks) io.fail();
    if (io.is_loading()) values_.clear();
    auto known = values_.begin();
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      SubjectId rank = io.is_loading() ? SubjectId::none : known->first;
      io(rank);
      if (!is_known(interner_, rank)) io.fail();
      Value unused{};
      const bool gone = io.take_gone();
      state_of(gone ? unused : io.is_loading() ? values_[rank] : known->second);
      if (!io.is_loading()) ++known;
    }
  }

 private:
  const Interner& interner_;
  SubjectMap<Value> values_;
};

}  // namespace trainwatch
