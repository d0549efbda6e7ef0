// SPDX-License-Identifier: Apache-2.0
// The meaning of a value named just "time" or "seconds", inferred from how it changes from record
// to record.
#pragma once

#include <cstdint>
#include <string_view>

#include "trainwatch/scalar.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class NamedTime {
 public:
  // "time", "time_s", "Seconds"; of records of epochs also "epoch_time".
  static bool is_name(std::string_view name, bool of_epochs);

  // Of the next value; `steps`: since the record before. The time since the beginning if it rises
  // from record to record, for longer where it rises little, as durations may do by chance; if it
  // does not, how long a step took, where it is in ms or records are of single steps. `other` until
  // there are enough values, and where it may be either.
  ScalarKind kind_of(double value, bool in_ms, std::uint32_t steps);

  void state(StateIo& io) {
    io(last_);
    io(rises_);
    io(little_);
    io(falls_);
  }

 private:
  double last_ = -1;
  int rises_ = 0;        // in a row, from the first value on
  bool little_ = false;  // one of them
  bool falls_ = false;
};

}  // namespace trainwatch
