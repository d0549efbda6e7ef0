// SPDX-License-Identifier: Apache-2.0
// Whether the figures of a verdict bear out what it says. One that they do not is a fault of its
// rule, and no user is to see it: "0.98x slower: 206 ms instead of 210 ms".
#pragma once

#include "trainwatch/verdict.h"

namespace trainwatch {

// The value is on the wrong side of the baseline, more time was lost than the window is long, or an
// amount is negative or not finite. The value itself may be NaN, as a loss can be.
bool contradicts_itself(const Verdict& verdict);

}  // namespace trainwatch
