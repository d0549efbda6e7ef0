// SPDX-License-Identifier: Apache-2.0
// An iteration of ranks in lock step, as booked by the ledger: which rank was last, and how much
// longer it worked than the others.
#pragma once

#include <cstdint>

#include "trainwatch/subject.h"
#include "trainwatch/time.h"

namespace trainwatch {

struct BookedIteration {
  SubjectId job = SubjectId::none;
  SubjectId rank = SubjectId::none;  // that came last
  Time from{};
  Time to{};
  std::int64_t last_step = -1;
  double late = 0;  // seconds that the others waited for its own work
};

}  // namespace trainwatch
