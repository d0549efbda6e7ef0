// What HTA's generate_trace_with_counters adds to a trace: how much launched work waits on each
// stream, and the bandwidth of copies and fills by kind, as counter events that viewers show as
// tracks beside the work.
//
//   {"ph":"C","name":"Queue Length","pid":0,"id":7,"ts":12.345,"args":{"Queue Length":3}}
//   {"ph":"C","name":"Memcpy BW","pid":0,"id":"Memcpy HtoD","ts":…,"args":{"Memcpy BW":11.5}}
//
// One event for each change, in the order of analyses: several of one time stand as they are
// counted there. `pid` is the device, as profilers write it for work on a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "trainwatch/cycle_trace.h"

namespace trainwatch {

// Microseconds as a decimal number, from nanoseconds: "12.345", "12", "-0.001".
std::string micros_text(std::int64_t ns);

// Tells the counters of `cycle`, with times as its file has them. `event` gets each as JSON text
// that is valid during the call. O(n log n), and memory as for the analyses of the same names.
void tell_counters(const CycleTrace& cycle, StepSelection steps,
                   const std::function<void(std::string_view event)>& event);

}  // namespace trainwatch
