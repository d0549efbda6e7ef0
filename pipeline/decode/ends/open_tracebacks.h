// SPDX-License-Identifier: Apache-2.0
// Python tracebacks that have begun in a log, of several ranks at once: the first line of each that
// is not indented names the exception.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trainwatch/state_io.h"
#include "trainwatch/subject.h"

namespace trainwatch {

class OpenTracebacks {
 public:
  // Beyond these, the oldest is given up, and each after so many lines.
  static constexpr std::size_t kMost = 64;
  static constexpr std::uint32_t kMostLines = 4096;

  static bool begins(std::string_view message);

  bool empty() const { return open_.empty(); }
  // `harmless`: the exception ends nothing.
  void begin(std::int32_t rank, bool harmless);
  enum class Line : std::uint8_t {
    other,      // of no traceback
    frame,      // inside a traceback: source code, which may contain anything
    exception,  // it names the exception, and the traceback is over
    harmless,   // the same, of one that ends nothing
  };
  Line add(std::int32_t rank, std::string_view message);
  void clear() { open_.clear(); }
  void state(StateIo& io);

 private:
  struct Traceback {
    std::int32_t rank = kNoRank;
    std::uint32_t lines = 0;  // of any rank since it began
    bool in_frame = false;    // the last line of the rank was indented
    bool harmless = false;

    void state(StateIo& io) {
      io(rank);
      io(lines);
      io(in_frame);
      io(harmless);
    }
  };
  std::vector<Traceback> open_;
};

}  // namespace trainwatch
