// SPDX-License-Identifier: Apache-2.0
// What an alert costs, for the sentence on top (headline.h).
#pragma once

#include <optional>
#include <string>

#include "pipeline/engine/headline.h"

namespace trainwatch {

struct AlertCost {
  std::optional<double> share;  // of the time since it began; none of an alert about one step
  double seconds = 0;           // of the run
};

// As the account of the run has it. Nothing: the rule measures no time, or none was lost. `until`:
// when it ended, or now.
std::optional<AlertCost> cost_of(const AlertView& view, Time until);

// "31 % of the time is lost, 41 GPU minutes so far"
std::string cost_text(const AlertCost& cost, const RunView& run);

}  // namespace trainwatch
