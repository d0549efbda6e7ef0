// One value per rank, for the first kMaxRanks of them.
#pragma once

#include <map>

#include "pipeline/analysis/table_cells.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

template <class Value>
class PerRank {
 public:
  static constexpr std::size_t kMaxRanks = 1024;

  explicit PerRank(const Interner& interner) : interner_(interner) {}

  // The value of a rank, made when it is new; null when there are too many.
  Value* of(SubjectId rank) {
    const auto known = values_.find(rank);
    if (known != values_.end()) return &known->second;
    return values_.size() == kMaxRanks ? nullptr : &values_.try_emplace(rank).first->second;
  }
  const std::map<SubjectId, Value>& all() const { return values_; }

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
  std::map<SubjectId, Value> values_;
};

}  // namespace trainwatch
