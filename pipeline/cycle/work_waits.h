// Who waited for which work, as the synchronisations of a cycle say.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/cycle/step_events.h"

namespace trainwatch {

// Work that began only after other work: "Stream Wait Event".
struct WorkWait {
  std::uint32_t work = 0;  // rows of CycleTrace::device
  std::uint32_t waited_for = 0;
};

// A call that ended only after work: what the event that it waited for stands for, or all that the
// stream or the context had been given.
struct CallWait {
  std::int64_t start_ns = 0;  // of the call
  std::uint32_t call = 0;     // row of CycleTrace::host
  std::uint32_t waited_for = kNoRow;
  std::int32_t stream = kNoStream;  // where waited_for is kNoRow; kNoStream: of the whole context
};

// An event stands for the last work launched on its stream before it was recorded, from whichever
// thread; a stream waits with what its thread launches next on it. O(rows log n).
class WorkWaits {
 public:
  explicit WorkWaits(const StepEventIndex& index);

  std::span<const WorkWait> of_work(std::uint32_t row) const;
  // Of the calls that began from the one to the other, both included.
  std::span<const CallWait> of_calls(std::int64_t from_ns, std::int64_t to_ns) const;

 private:
  std::vector<WorkWait> of_work_;   // by work
  std::vector<CallWait> of_calls_;  // by start
};

}  // namespace trainwatch
