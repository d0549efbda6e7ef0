// SPDX-License-Identifier: Apache-2.0
// What an alert says about its run, in the clauses of the sentence on top (headline.h): what goes
// on and where, in the words of its cause.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/engine/headline.h"

namespace trainwatch {

// Of the rule about training that stands still.
bool is_stall(const AlertView& view);
// Of a rule about single steps: it is about one, or a few that came together.
bool is_moment(const AlertView& view);

// The ranks that the alert is about, "0-3,7"; empty: none has a number.
std::string ranks_of(const AlertView& view, const RunView& run);
// "rank 3", "ranks 0-3,7"
std::string ranks_text(std::string_view ranks);
// ", and the cause is not known (missing: gpu samples)"; empty if it is known.
std::string unknown_part(const Cause& cause);

// "every step waits for data on ranks 0-7". `alerts` supply the cause if `view` does not know it,
// and the rank that the others wait for.
std::string lasting_clause(const AlertView& view, const RunView& run, const RunAlerts& alerts,
                           Time now);
// "a step waited for data on ranks 0-7"
std::string moment_clause(const AlertView& view, const RunView& run);
// Of what is over: "training stood still for 8 min on rank 3".
std::string past_clause(const AlertView& view, const RunView& run);

}  // namespace trainwatch
