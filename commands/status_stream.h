// SPDX-License-Identifier: Apache-2.0
// A stream with a status line below all that is printed: of the commands that write to streams.
// `run` has the same in its log (daemon/logging.h).
#pragma once

#include <iosfwd>
#include <string_view>

#include "daemon/terminal/status_line.h"

namespace trainwatch {

class StatusStream {
 public:
  using Clock = StatusLine::Clock;

  // The line goes to `stream`, which outlives this and has this style.
  StatusStream(std::ostream& stream, const TextStyle& style) : stream_(stream), line_(style) {}
  StatusStream(const StatusStream&) = delete;
  StatusStream& operator=(const StatusStream&) = delete;
  ~StatusStream() { clear(); }

  // Whole lines.
  void print(std::string_view lines) { print(stream_, lines); }
  // The same to a stream that may end on the same terminal.
  void print(std::ostream& to, std::string_view lines);

  bool has_line() const { return line_.is_possible(); }
  bool is_due(Clock::time_point now) const { return line_.is_due(now); }
  void set_width(std::size_t columns) { line_.set_width(columns); }
  void show(std::string_view text, Clock::time_point now);
  void clear();

 private:
  std::ostream& stream_;
  StatusLine line_;
};

}  // namespace trainwatch
