// SPDX-License-Identifier: Apache-2.0
// What a rank lost in an iteration: one booking of the ledger.
#pragma once

#include "trainwatch/event.h"
#include "trainwatch/time.h"

namespace trainwatch {

struct LostInterval {
  SubjectId rank = SubjectId::none;  // that came last
  Time end{};
  double seconds = 0;
};

}  // namespace trainwatch
