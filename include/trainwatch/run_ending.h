// SPDX-License-Identifier: Apache-2.0
// How an attempt of a run ended, as far as is known by now.
#pragma once

#include <cstdint>
#include <optional>

#include "trainwatch/event.h"
#include "trainwatch/run_note.h"
#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

struct AttemptEnd {
  Time at{};
  EndEvidence how;

  // "finished", "failed", "cancelled", by the class.
  bool is_failure() const { return how.what != EndClass::completed && !is_cancellation(); }
  bool is_cancellation() const {
    return how.what == EndClass::cancelled || how.what == EndClass::time_limit ||
           how.what == EndClass::preempted;
  }
  void state(StateIo& io) {
    io(at);
    io(how);
    if (!is_possible(at)) io.fail();
  }
};

// What rules learn about the end of a run. Later evidence may refine it, and a step that begins
// after it withdraws it.
struct RunEnding {
  SubjectId job = SubjectId::none;
  Time at{};                        // of the end, or of what takes it back
  std::optional<AttemptEnd> end{};  // nullopt: the run is still going
  std::uint32_t attempt = 1;
  std::int64_t step = kNoStep;   // the last one
  std::int64_t total_steps = 0;  // that it was to do; 0: not known
};

}  // namespace trainwatch
