// SPDX-License-Identifier: Apache-2.0
// What is shown of each run that an engine knows, and the sentence on top of it.
#pragma once

#include <map>
#include <optional>

#include "pipeline/engine/engine.h"
#include "pipeline/engine/headline.h"

namespace trainwatch {

struct ShownRun {
  RunView view;
  Headline headline;
};

// By the subject of the job, as of the clock of the ledger or the end of the input.
std::map<SubjectId, ShownRun> shown_runs(const Engine& engine);

}  // namespace trainwatch
