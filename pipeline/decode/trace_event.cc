// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/trace_event.h"

namespace trainwatch {
namespace {

using TraceMember = TraceEvent::Member;

TraceMember trace_argument(std::string_view key) {
  if (key == "step_num") return &TraceEvent::step_num;
  if (key == "pid") return &TraceEvent::args_pid;
  if (key == "name") return &TraceEvent::args_name;
  if (key == "layer_name") return &TraceEvent::args_layer_name;
  if (key == "tid") return &TraceEvent::args_tid;
  if (key == "thread_id") return &TraceEvent::thread_id;
  if (key == "worker_id") return &TraceEvent::worker_id;
  if (key == "num_workers") return &TraceEvent::num_workers;
  if (key == "run") return &TraceEvent::run;
  if (key == "pin_memory") return &TraceEvent::pin_memory;
  if (key == "step") return &TraceEvent::args_step;
  if (key == "value") return &TraceEvent::args_value;
  return key == "start_time_since_epoch_in_micros" ? &TraceEvent::start_time_us : nullptr;
}

TraceMember trace_member(std::string_view key) {
  if (key == "ph") return &TraceEvent::phase;
  if (key == "ts") return &TraceEvent::ts;
  if (key == "pid") return &TraceEvent::pid;
  if (key == "dur") return &TraceEvent::dur;
  if (key == "tid") return &TraceEvent::tid;
  if (key == "cat") return &TraceEvent::category;
  return key == "name" ? &TraceEvent::name : nullptr;
}

}  // namespace

bool TraceEventReader::read(std::string_view record, TraceEvent& event) {
  if (layouts_.read(record, event)) return true;
  event = {};
  return layouts_.read_by_key(record, event, trace_member, trace_argument);
}

}  // namespace trainwatch
