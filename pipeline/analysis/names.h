// The names of nodes and ranks as smdebug has them, and the check of ids that were loaded.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "trainwatch/vocabulary.h"

namespace trainwatch {

// "algo-1-0": node and rank, or what is known of them.
inline std::string rank_name(const Vocabulary& vocabulary, SubjectId subject) {
  const Subject& known = vocabulary.subjects[subject];
  if (known.rank == kNoRank) return known.node;
  const std::string rank = std::to_string(known.rank);
  return known.node.empty() ? rank : known.node + "-" + rank;
}

// What smdebug calls the time between steps of two phases: the names in their order.
inline std::string between_phases(std::string_view a, std::string_view b) {
  std::string name("Between ");
  name.append(std::min(a, b)).append(" and ").append(std::max(a, b));
  return name;
}

inline bool is_known(const Vocabulary& vocabulary, Symbol symbol) {
  return static_cast<std::size_t>(symbol) < vocabulary.symbols.size();
}
inline bool is_known(const Vocabulary& vocabulary, SubjectId subject) {
  return static_cast<std::size_t>(subject) < vocabulary.subjects.size();
}

}  // namespace trainwatch
