// SPDX-License-Identifier: Apache-2.0
// Whether the other ranks of a job are known as far as one rank is judged.
#pragma once

#include <chrono>
#include <cstdint>

#include "trainwatch/rule.h"

namespace trainwatch {

// Whether the timelines of all ranks were read up to `until`. In finished files, other ranks may
// only be found later: then it is assumed once this rank has been read `ahead` far enough.
inline bool were_others_read(PauseActivity& pauses, SubjectId rank, std::uint32_t world, Time until,
                             Nanos ahead) {
  constexpr auto kAhead = std::chrono::seconds(100);
  return pauses.knows_all(rank, world) ? pauses.passed(rank, until) : ahead > kAhead;
}

}  // namespace trainwatch
