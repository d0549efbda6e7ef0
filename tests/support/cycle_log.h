// SPDX-License-Identifier: Apache-2.0
// Keeps the profiler cycles that it gets.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainwatch/cycle_trace.h"

namespace trainwatch::test {

class CycleLog final : public CycleSink {
 public:
  explicit CycleLog(bool host_events = false) : host_events_(host_events) {}
  void cycle(CycleTrace& cycle) override { cycles.push_back(std::move(cycle)); }
  bool wants_host_events() const override { return host_events_; }

  std::vector<CycleTrace> cycles;

 private:
  bool host_events_;
};

// All of a cycle, so that two compare with ==; the subject belongs to an interner and is left out.
inline std::string describe(const CycleTrace& cycle) {
  const auto text = [](auto number) { return std::to_string(number) + " "; };
  std::string out = text(cycle.number) + text(cycle.left_out);
  for (const DeviceActivity& row : cycle.device) {
    out += "\ndevice " + text(row.start_ns) + text(row.duration_ns) + text(row.launch) +
           text(cycle.stream_of(row)) + text(cycle.place_of(row).device) +
           text(cycle.place_of(row).memory_gbps) + text(static_cast<int>(row.kind)) +
           text(static_cast<int>(row.activity_class));
    out += cycle.names.text(row.name);
  }
  for (const LaunchRow& row : cycle.launches) {
    out += "\nlaunch " + text(row.start_ns) + text(row.duration_ns);
    out += cycle.names.text(row.name);
  }
  for (const AnnotationRow& row : cycle.annotations) {
    out +=
        "\nannotation " + text(row.start_ns) + text(row.duration_ns) + text(row.on_device ? 1 : 0);
    out += cycle.names.text(row.name);
  }
  for (const StepRow& row : cycle.steps) {
    out += "\nstep " + text(row.start_ns) + text(row.duration_ns) + text(row.number) +
           text(row.data_wait_ns);
  }
  for (const HostEvent& row : cycle.host) {
    out += "\nhost " + text(row.start_ns) + text(row.duration_ns) + text(row.thread) +
           text(row.launch) + text(static_cast<int>(row.kind));
    out += cycle.names.text(row.name);
  }
  for (const SyncRow& row : cycle.syncs) {
    out += "\nsync " + text(row.start_ns) + text(row.duration_ns) + text(row.device) +
           text(row.stream) + text(row.waits_for) + text(row.launch) + text(row.event_record);
    out += cycle.names.text(row.name);
  }
  for (const CollectiveRow& row : cycle.collectives) {
    out += "\ncollective " + text(row.start_ns) + text(row.duration_ns) + text(row.sequence);
    out += cycle.names.text(row.group);
  }
  const auto add = [&](const char* what, const std::vector<Interval>& intervals) {
    for (const Interval& interval : intervals)
      out += std::string("\n") + what + " " + text(interval.start_ns) + text(interval.end_ns);
  };
  add("data wait", cycle.data_waits);
  add("blocking call", cycle.blocking_calls);
  add("host pause", cycle.host_pauses);
  return out + "\nworld " + text(cycle.world_size);
}

}  // namespace trainwatch::test
