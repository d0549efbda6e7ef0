// SPDX-License-Identifier: Apache-2.0
// Whether the figures of a verdict bear out what it says. One that they do not is a fault of its
// rule, and no user is to see it: "0.98x slower: 206 ms instead of 210 ms".
#pragma once

#include "trainwatch/verdict.h"

namespace trainwatch {

// The value lies beyond the baseline on the other side than the threshold does; more was lost in
// the window than it is long; or a figure is none. The value may be any, as that of a loss.
bool contradicts_itself(const Verdict& verdict);

}  // namespace trainwatch
