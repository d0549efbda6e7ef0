// SPDX-License-Identifier: Apache-2.0
// Dates with a time of day as loggers write them: "2026-08-01 07:19:37,250",
// "2026-08-01T07:19:37.25+02:00", "2026/08/01 07:19:37", "08/01/2026 07:19:37", "08/01/26
// 07:19:37", "01.08.2026 07:19:37", "20260801-07:19:37"; with "PM" behind them, too.
#pragma once

#include <optional>
#include <string_view>

#include "trainwatch/time.h"

namespace trainwatch {

bool begins_with_date(std::string_view text);

// That date; what follows it does not matter. In the local zone, unless it names one. nullopt: no
// date, or one that there is not. `after`: as for local_time().
std::optional<Time> date_at(std::string_view text, Time after = kNoTime);

}  // namespace trainwatch
