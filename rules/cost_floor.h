// SPDX-License-Identifier: Apache-2.0
// The least that a warning about lost time must be worth, whichever rule measures it. What a
// profiler records in a second or two stands for more, so CycleEvidence decides there.
#pragma once

namespace trainwatch {

inline constexpr double kLeastWarningSeconds = 1.5;  // lost

}  // namespace trainwatch
