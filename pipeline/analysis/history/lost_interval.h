// SPDX-License-Identifier: Apache-2.0
// What a job lost in an iteration, and to which part of its account: one booking of the ledger.
#pragma once

#include "trainwatch/event.h"
#include "trainwatch/life_part.h"
#include "trainwatch/time.h"

namespace trainwatch {

struct LostInterval {
  SubjectId rank = SubjectId::none;  // that came last
  Time end{};
  LifePart part = LifePart::unattributed;
  double seconds = 0;  // of the job
  double ranks = 1;    // that lost it
};

}  // namespace trainwatch
