// SPDX-License-Identifier: Apache-2.0
// The scalars of a job as /api/v1/scalars and the report give them: a curve of each rank and tag.
// Times are integer microseconds since the epoch. docs/api.md defines each field.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/analysis/history/scalar_history.h"
#include "trainwatch/interner.h"

namespace trainwatch {

struct ScalarChoice {
  std::vector<std::string> tags{};                  // empty: all
  std::size_t last = ScalarHistory::kMostPoints;    // of each curve, the newest
  std::size_t points = ScalarHistory::kMostPoints;  // of each curve, older ones put together
};

// Those that say most about the training come first. Values that are not finite are "NaN", "+Inf"
// and
// "-Inf", as on /metrics.
std::string scalars_json(const std::string& name, const ScalarHistory& scalars,
                         const Interner& interner, const ScalarChoice& choice);

}  // namespace trainwatch
