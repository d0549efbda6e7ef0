// SPDX-License-Identifier: Apache-2.0
// How a run ended, in words for somebody who has five seconds.
#pragma once

#include <string>

#include "trainwatch/run_note.h"

namespace trainwatch {

// "CUDA out of memory on rank 3", "rank 3 on node-7 was killed by signal 9", "time limit"
std::string end_words(const EndEvidence& how);

}  // namespace trainwatch
