// SPDX-License-Identifier: Apache-2.0
// Counter events as HTA's generate_trace_with_counters adds them to a trace: the queue length of
// each stream, and the bandwidth of copies and fills by kind. Viewers show them as tracks.
//
//   {"ph":"C","name":"Queue Length","pid":0,"id":7,"ts":12.345,"args":{"Queue Length":3}}
//   {"ph":"C","name":"Memcpy BW","pid":0,"id":"Memcpy HtoD","ts":…,"args":{"Memcpy BW":11.5}}
//
// One event per change, in the order in which the analyses count them. `pid` is the device, as
// profilers write it for GPU activity.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "trainwatch/cycle_trace.h"

namespace trainwatch {

// Microseconds as a decimal number, from nanoseconds: "12.345", "12", "-0.001".
std::string micros_text(std::int64_t ns);

// Emits the counters of `cycle`, in the times of its file. `event` receives each as JSON text that
// is valid during the call. O(n log n); memory as for the analyses of the same names.
void emit_counters(const CycleTrace& cycle, StepSelection steps,
                   const std::function<void(std::string_view event)>& event);

}  // namespace trainwatch
