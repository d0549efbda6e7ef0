// Saving and loading an event that waits. Every number in it is checked against the vocabulary, so
// that a loaded event may be used like a decoded one.
#pragma once

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

void sample_state(StateIo& io, Sample& sample, const Vocabulary& vocabulary);

// Spans, samples and steps; other events do not wait, and saving one fails.
void event_state(StateIo& io, Event& event, const Vocabulary& vocabulary);

}  // namespace trainwatch
