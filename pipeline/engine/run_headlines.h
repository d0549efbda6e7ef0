// SPDX-License-Identifier: Apache-2.0
// The sentence on top of each run that an engine knows.
#pragma once

#include <map>

#include "pipeline/engine/engine.h"
#include "pipeline/engine/headline.h"

namespace trainwatch {

// `loss`: Engine::outstanding_loss(), or that of when its latest event came;
// empty after the end of the input.
RunView view_of(const Engine& engine, const Runs::Run& run, const LostTime::Outstanding& loss);

// By the subject of the job. As of the last tick, or the end of the input.
std::map<SubjectId, Headline> run_headlines(const Engine& engine,
                                            const LostTime::Outstanding& loss);

}  // namespace trainwatch
