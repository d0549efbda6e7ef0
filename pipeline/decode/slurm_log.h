// SPDX-License-Identifier: Apache-2.0
// The logs that Slurm makes of the output of its jobs are named after their numbers.
#pragma once

#include <string_view>

namespace trainwatch {

// "9001" of "slurm-9001.out", "bert-9001.err" or "9001.out", "9001_3" of the task
// "slurm-9001_3.out" of an array; empty: the name has no such number. A view of `path`.
//
// Elsewhere than behind "slurm-" only what is likely to be one: three to eight digits, four in a
// ".log", that are no date and no number of a rank, node or step.
std::string_view slurm_number(std::string_view path);

// Orders such numbers as Slurm gives them.
bool is_earlier_slurm_number(std::string_view one, std::string_view other);

}  // namespace trainwatch
