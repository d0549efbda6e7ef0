// The sentence on top of each run that an engine knows.
#pragma once

#include <map>

#include "pipeline/engine/engine.h"
#include "pipeline/engine/headline.h"

namespace trainwatch {

RunView view_of(const Engine& engine, const Runs::Run& run);

// By the subject of the job. As of the last tick, or the end of the input.
std::map<SubjectId, Headline> run_headlines(const Engine& engine);

}  // namespace trainwatch
