// SPDX-License-Identifier: Apache-2.0
// How far a command has read its files: on a terminal a bar with rate and time left in the status
// line, and once it is done a line with the total; without one, if it is asked for, a plain line
// every second.
#pragma once

#include <cstdint>
#include <string>

#include "commands/status_stream.h"

namespace trainwatch {

class Progress {
 public:
  using Clock = StatusStream::Clock;

  // `wanted`: otherwise nothing is shown.
  Progress(StatusStream& stream, bool wanted) : stream_(stream), wanted_(wanted) {}

  // So many bytes are known to be unread. The first call begins the measurement.
  void found(std::uint64_t unread, Clock::time_point now);
  // Whether show_left() would show anything new: asking how much is left takes time.
  bool is_due(Clock::time_point now) const;
  void show_left(std::uint64_t unread, Clock::time_point now);
  void finish(Clock::time_point now);

 private:
  std::string text(double seconds) const;

  StatusStream& stream_;
  bool wanted_;
  bool begun_ = false;
  Clock::time_point began_{};
  Clock::time_point said_{};  // the last plain line
  std::uint64_t read_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace trainwatch
