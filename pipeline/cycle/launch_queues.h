// Whether work was launched into an empty queue, on each stream of a cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

// Of the work that queue_length() counts. O(rows log n).
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
