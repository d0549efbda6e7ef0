// SPDX-License-Identifier: Apache-2.0
// The line of a rule case that stands for one profiler cycle of a rank.
#pragma once

#include "rules/words.h"
#include "trainwatch/cycle_summary.h"
#include "trainwatch/result.h"
#include "trainwatch/time.h"

namespace trainwatch::cases {

// "cycle A..B SECONDS [options]", as tests/rules/README.md has it. The first step begins at
// `start`; the subject and the number of the cycle are left to the caller.
Result<CycleSummary> read_cycle_line(const Words& words, Time start);

}  // namespace trainwatch::cases
