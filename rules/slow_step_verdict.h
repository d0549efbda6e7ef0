// SPDX-License-Identifier: Apache-2.0
// What step_spike says of slow iterations: sentences, cause and evidence.
#pragma once

#include "rules/slow_steps.h"
#include "trainwatch/verdict.h"

namespace trainwatch::step_spike {

// Slow steps close to each other; shows the worst.
Verdict describe_episode(const Track& track);
// Slow records that have become frequent, up to this one.
Verdict describe_frequent(const Track& track, const Step& step);

// Slow steps that come round; shows the latest.
Verdict describe_rhythm(const Track& track);

}  // namespace trainwatch::step_spike
