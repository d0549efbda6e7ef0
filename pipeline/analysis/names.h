// The names of nodes and ranks as smdebug has them, and the check of ids that were loaded.
#pragma once

#include <string>

#include "trainwatch/vocabulary.h"

namespace trainwatch {

// "algo-1-0": node and rank, or what is known of them.
inline std::string rank_name(const Vocabulary& vocabulary, SubjectId subject) {
  const Subject& known = vocabulary.subjects[subject];
  if (known.rank == kNoRank) return known.node;
  const std::string rank = std::to_string(known.rank);
  return known.node.empty() ? rank : known.node + "-" + rank;
}

inline bool is_known(const Vocabulary& vocabulary, Symbol symbol) {
  return static_cast<std::size_t>(symbol) < vocabulary.symbols.size();
}
inline bool is_known(const Vocabulary& vocabulary, SubjectId subject) {
  return static_cast<std::size_t>(subject) < vocabulary.subjects.size();
}

}  // namespace trainwatch
