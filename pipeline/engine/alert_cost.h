// SPDX-License-Identifier: Apache-2.0
// What an alert costs, for the sentence on top (headline.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pipeline/engine/headline.h"

namespace trainwatch {

struct AlertCost {
  std::optional<double> share;  // of the time since it began
  double gpu_seconds = 0;       // of the ranks concerned
  std::string_view how;         // "": measured; "about ": a rate is taken for the whole time; "at
                                // least ": only what was measured is counted
  std::string_view of = "the time";
};

// Nothing: the rule does not measure it. `until`: when it ended, or the newest event time.
std::optional<AlertCost> cost_of(const AlertView& view, const RunView& run, Time until);

// How many ranks lose the time, at least one.
double ranks_concerned(const AlertView& view, const RunView& run);

// "31 % of the time is lost, 41 GPU minutes so far"
std::string cost_text(const AlertCost& cost, const RunView& run);

}  // namespace trainwatch
