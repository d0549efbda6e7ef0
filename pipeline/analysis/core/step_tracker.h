// Makes training steps of spans: a step span closes a Step, with the time spent waiting for input
// inside it. A writer reports the waits of a step before or together with the step itself, in any
// order of their start times; what arrives after its step is not added to it.
//
// One instance serves all ranks. State per (subject, origin): the last `kWaits` waits.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class StepTracker {
 public:
  // Takes a span of kind step or data_wait; other kinds are ignored. Returns the step it closed.
  std::optional<Step> on(const Span& span);

  void state(StateIo& io) { io(lanes_); }

 private:
  static constexpr std::size_t kWaits = 64;

  struct Wait {
    Time start{};
    Time end{};
  };
  struct RecentWaits {
    std::array<Wait, kWaits> ring{};
    std::uint32_t next = 0;
    std::uint32_t size = 0;

    void add(const Span& wait);
    Nanos within(Time start, Time end) const;
    void state(StateIo& io) {
      io(ring);
      io(next);
      io(size);
      if (next >= kWaits || size > kWaits) io.fail();
    }
  };

  std::map<std::pair<SubjectId, Origin>, RecentWaits> lanes_;
};

}  // namespace trainwatch
