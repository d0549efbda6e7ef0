// SPDX-License-Identifier: Apache-2.0
// What activities and calls had to wait for: whether a launch found an empty queue, and what the
// synchronisations of a cycle waited for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/analysis/hta/step_events.h"
#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

// An activity that began only after another: "Stream Wait Event".
struct ActivityWait {
  std::uint32_t row = 0;  // rows of CycleTrace::device
  std::uint32_t waited_for = 0;
};

// A call that waited for the device: for what its event stands for, or for everything that the
// stream or the context had been given.
struct CallWait {
  std::int64_t start_ns = 0;  // of the call
  std::uint32_t call = 0;     // row of CycleTrace::host
  std::uint32_t waited_for = kNoRow;
  std::int32_t stream = kNoStream;  // where waited_for is kNoRow; kNoStream: of the whole context
};

// An event stands for the last activity launched on its stream before it was recorded, from
// whichever thread; a stream waits with what its thread launches next on it. O(rows log n).
class ActivityWaits {
 public:
  explicit ActivityWaits(const StepEventIndex& index);

  std::span<const ActivityWait> of_activity(std::uint32_t row) const;
  // Of the calls that began from the one to the other, both included.
  std::span<const CallWait> of_calls(std::int64_t from_ns, std::int64_t to_ns) const;

 private:
  std::vector<ActivityWait> of_activity_;  // by row
  std::vector<CallWait> of_calls_;         // by start
};

// Whether activities were launched into an empty queue, on each stream of a cycle: those that
// QueueSweep counts. O(rows log n).
class LaunchQueues {
 public:
  explicit LaunchQueues(const CycleTrace& cycle);

  // Nothing waited on the stream when the row was launched, and nothing but what the same call
  // launched did when it started; of a graph only for what started first. HTA asks for a length of
  // 1 at the launch and of 0 at the start, which is the same for a launch of one kernel, and never
  // true for a graph. O(log n).
  bool was_empty(std::uint32_t row) const;

 private:
  struct Stream {
    std::int32_t stream = 0;
    std::vector<std::int64_t> launched_ns;
    std::vector<std::int64_t> started_ns;
  };

  const CycleTrace& cycle_;
  std::vector<bool> queued_;  // by NameId
  std::vector<Stream> streams_;
};

}  // namespace trainwatch
