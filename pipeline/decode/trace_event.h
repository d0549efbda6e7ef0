// SPDX-License-Identifier: Apache-2.0
// One event of a timeline in Chrome's trace format, as raw tokens: what the timeline and TensorFlow
// decoders read of it.
#pragma once

#include <string_view>

#include "pipeline/decode/record_layouts.h"
#include "trainwatch/event.h"

namespace trainwatch {

// Absent members are empty tokens. Strings keep their quotes.
struct TraceEvent {
  using Member = std::string_view TraceEvent::*;

  std::string_view phase;  // "ph"
  std::string_view name;
  std::string_view ts;
  std::string_view dur;
  std::string_view pid;
  std::string_view tid;
  std::string_view category;  // "cat"
  // From "args"
  std::string_view args_name;
  std::string_view args_layer_name;
  std::string_view args_pid;
  std::string_view args_tid;
  std::string_view thread_id;
  std::string_view step_num;
  std::string_view worker_id;
  std::string_view num_workers;
  std::string_view pin_memory;
  std::string_view run;
  std::string_view start_time_us;  // start_time_since_epoch_in_micros
  std::string_view args_step;      // of a counter
  std::string_view args_value;     // the same

  bool take(Member member, std::string_view value) {
    this->*member = value;
    return false;
  }
  // 'X' for "X", '\0' when there is none.
  char type() const { return phase.size() == 3 ? phase[1] : '\0'; }
};

// The thread of a span, which writers put in one of three places.
inline std::string_view thread_of(const TraceEvent& event) {
  if (!event.tid.empty()) return event.tid;
  return event.thread_id.empty() ? event.args_tid : event.thread_id;
}

// Reads the events of one file. A record that is laid out as an earlier one is recognised as such,
// which saves looking at its keys; what comes out is the same as from a new reader.
class TraceEventReader {
 public:
  // `event` is new. False: the record is broken.
  bool read(std::string_view record, TraceEvent& event);

 private:
  RecordLayouts<TraceEvent> layouts_;
};

}  // namespace trainwatch
