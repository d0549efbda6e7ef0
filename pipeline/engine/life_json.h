// SPDX-License-Identifier: Apache-2.0
// The account of a run as JSON: the same members in /api/v1/runs and from `trainwatch runs`.
#pragma once

#include <string>

#include "pipeline/ledger/run_ledger.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {

// "end", "attempts" and "life", as members of the open object. Seconds have six decimals, and the
// parts add up to the wall time.
void write_life(JsonWriter& json, const Life& life);
// How the wall time of a run was spent, in columns, as the page draws it: a row for each part,
// whose values are seconds, and null where the run was not there.
std::string wall_time_json(const std::string& job, const RunLedger& run, const Life& life,
                           const ChartRange& range);
// "1,900 s of wall time: 31 % training, 62 % down, ...", for a terminal.
std::string life_words(const Life& life);

}  // namespace trainwatch
