// An event as a person reads it in the list of what was thrown away.
#pragma once

#include <string>

#include "trainwatch/event.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

// "span Step:ModeKeys.TRAIN, step 12, at 2190-01-01T00:00:00.000000Z"
std::string event_text(const Event& event, const Vocabulary& vocabulary);

}  // namespace trainwatch
