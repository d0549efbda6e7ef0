#include "pipeline/decode/trace_event.h"

#include "pipeline/decode/json_cursor.h"

namespace trainwatch {
namespace {

void read_args(JsonCursor& cursor, TraceEvent& event) {
  cursor.enter();
  std::string_view key;
  while (cursor.next(key)) {
    const std::string_view value = cursor.value();
    if (key == "step_num") {
      event.step_num = value;
    } else if (key == "pid") {
      event.args_pid = value;
    } else if (key == "name") {
      event.args_name = value;
    } else if (key == "layer_name") {
      event.args_layer_name = value;
    } else if (key == "tid") {
      event.args_tid = value;
    } else if (key == "thread_id") {
      event.thread_id = value;
    } else if (key == "worker_id") {
      event.worker_id = value;
    } else if (key == "num_workers") {
      event.num_workers = value;
    } else if (key == "pin_memory") {
      event.pin_memory = value;
    } else if (key == "start_time_since_epoch_in_micros") {
      event.start_time_us = value;
    }
  }
}

std::string_view* member(TraceEvent& event, std::string_view key) {
  switch (key.size()) {
    case 2:
      if (key == "ph") return &event.phase;
      return key == "ts" ? &event.ts : nullptr;
    case 3:
      if (key == "pid") return &event.pid;
      if (key == "dur") return &event.dur;
      if (key == "tid") return &event.tid;
      return key == "cat" ? &event.category : nullptr;
    case 4:
      return key == "name" ? &event.name : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

bool read_trace_event(std::string_view record, TraceEvent& event) {
  JsonCursor cursor{record};
  cursor.enter();
  std::string_view key;
  while (cursor.next(key)) {
    if (key == "args" && cursor.at_object()) {
      read_args(cursor, event);
      continue;
    }
    const std::string_view value = cursor.value();
    if (std::string_view* const place = member(event, key)) *place = value;
  }
  return !cursor.failed();
}

}  // namespace trainwatch
