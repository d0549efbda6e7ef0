// SPDX-License-Identifier: Apache-2.0
// Holds what a case expects to what its run gave.
#pragma once

#include <string>
#include <vector>

#include "rules/case.h"
#include "rules/case_driver.h"

namespace trainwatch::cases {

// What keeps `alert` from having all `fields`: "evidence.period is 20, the alert has no perod".
// Empty when it has them.
std::string mismatch(const Alert& alert, const std::vector<Field>& fields);

// Why no alert came: "the rule gave no verdict: it abstains, missing is 'gpu activity'".
std::string why_silent(const Judged& judged);

// Empty when `expectation` is met; otherwise what was expected, what is wrong, and the alerts that
// were emitted, one a line.
std::string unmet(const Expectation& expectation, const Case& made, const Outcome& outcome);

}  // namespace trainwatch::cases
