// SPDX-License-Identifier: Apache-2.0
// The sentence on top of each run that an engine knows.
#pragma once

#include <map>
#include <optional>

#include "pipeline/engine/engine.h"
#include "pipeline/engine/headline.h"

namespace trainwatch {

// As of the clock of the ledger, or the end of the input.
RunView view_of(const Engine& engine, SubjectId job, Life life);

// By the subject of the job.
std::map<SubjectId, Headline> run_headlines(const Engine& engine);

}  // namespace trainwatch
