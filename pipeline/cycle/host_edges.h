// The edges of a step's graph on the host: what a thread did one after the other, and calls that
// waited for each other's lock.
#pragma once

#include "pipeline/cycle/critical_path_graph.h"
#include "pipeline/cycle/step_events.h"

namespace trainwatch {

// Calls that take the lock of CUDA's runtime. One that is alone is an edge from its start to its
// end; of those that overlap, the first to end had the lock first, the others began to wait for
// that, and pass it on by their ends. O(nodes).
void add_lock_edges(const StepEventIndex& index, PathGraph& graph);

// Along each thread from each start or end to the next: while something runs with what passes,
// between what is outermost without weight. The end of a call that waits for the device has none
// either: it is what was waited for that took the time. What begins inside something else and ends
// after it is not nested, but in the order of time all the same. O(nodes).
void add_call_stack_edges(const StepEventIndex& index, PathGraph& graph);

}  // namespace trainwatch
