// SPDX-License-Identifier: Apache-2.0
// How tables show times and names: whole microseconds, as the files have them, and the names of
// nodes, ranks and phases, as smdebug has them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "trainwatch/interner.h"
#include "trainwatch/time.h"

namespace trainwatch {

// "algo-1-0": node and rank, or what is known of them.
inline std::string rank_name(const Interner& interner, SubjectId subject) {
  const Subject& known = interner.subjects[subject];
  if (known.rank == kNoRank) return writer_name(known);
  const std::string rank = std::to_string(known.rank);
  return known.node.empty() ? rank : known.node + "-" + rank;
}

// What smdebug calls the time between steps of two phases: the names in their order.
inline std::string between_phases(std::string_view a, std::string_view b) {
  std::string name("Between ");
  name.append(std::min(a, b)).append(" and ").append(std::max(a, b));
  return name;
}

// Whether an id that was loaded from the state is one.
inline bool is_known(const Interner& interner, Symbol symbol) {
  return static_cast<std::size_t>(symbol) < interner.symbols.size();
}
inline bool is_known(const Interner& interner, SubjectId subject) {
  return static_cast<std::size_t>(subject) < interner.subjects.size();
}

inline std::int64_t to_us(Nanos duration) {
  return std::chrono::floor<std::chrono::microseconds>(duration).count();
}
inline std::int64_t to_us(Time time) {
  return to_us(time.time_since_epoch());
}

}  // namespace trainwatch
