// SPDX-License-Identifier: Apache-2.0
// The ranks that have said nothing, where lines of NCCL's watchdog are all there is and say no more
// than who waits: in a collective of all ranks, whoever waits prints a line.
#pragma once

#include <cstdint>

#include "trainwatch/hang.h"

namespace trainwatch {

// Names them in a finding that names nobody, as Kind::silent and with low confidence: the gap among
// the ranks that wait, and those up to `world_size` (0: not known) behind. Only if they are few
// beside those that wait: else the lines of whole nodes are missing here.
void name_silent_ranks(HangFinding& found, std::uint32_t world_size);

}  // namespace trainwatch
