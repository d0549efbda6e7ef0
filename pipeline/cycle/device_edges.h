// The edges of a step's graph on the device: work, why it began when it did, and what waited for
// it.
#pragma once

#include "pipeline/cycle/critical_path_graph.h"
#include "pipeline/cycle/launch_queues.h"
#include "pipeline/cycle/step_events.h"
#include "pipeline/cycle/work_waits.h"

namespace trainwatch {

// A longer gap between work of one stream has another reason than the work before it.
inline constexpr std::int64_t kLongestKernelDelayNs = 1'500'000;

// Work begins
//   after its launch, when that found the queue empty and all the work before it ended;
//   else after the work before it on its stream, when that ended less than 1.5 ms before;
//   and after what it waits for by an event, without weight.
// The work before it is what ended last on the stream before it began: work that overlaps is no
// reason for what it overlaps. O(events log n).
void add_work_edges(const StepEventIndex& index, const StepEvents& events,
                    const LaunchQueues& queues, const WorkWaits& waits, PathGraph& graph);

// From work to the end of a call that waited for it.
void add_sync_edges(const StepRow& step, const StepEventIndex& index, const StepEvents& events,
                    const WorkWaits& waits, PathGraph& graph);

}  // namespace trainwatch
