// SPDX-License-Identifier: Apache-2.0
// How a row of the journal (event_journal.h) writes events. What a span has in common with a recent
// one, which is all but its start, duration and step, is written once: in a job with several ranks
// that makes 26 bytes of 75. Rows are independent of each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class EventCodec {
 public:
  // Before the first event of a row, on both sides.
  void begin_row() { known_.fill(std::nullopt); }

  // Appends an event. A note has no bytes: writing one fails.
  void write(StateIo& io, const Span& span);
  void write(StateIo& io, Event event);

  // The next event; nullopt if it is of what is gone. A damaged row fails.
  std::optional<Event> read(StateIo& io);

 private:
  // A span that was written as a whole.
  struct Known {
    Span span{};
    bool gone = false;  // read, but of what is gone
  };
  static constexpr std::size_t kKnown = 256;

  static std::uint8_t place_of(const Span& span);

  std::array<std::optional<Known>, kKnown> known_;
};

}  // namespace trainwatch
