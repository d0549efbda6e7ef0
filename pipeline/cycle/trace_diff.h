// What differs between two traces, by the names of their events: HTA's TraceDiff.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/cycle/step_selection.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// An event's name and where it was. Steps have one name, "ProfilerStep": their numbers are not what
// differs.
struct TraceName {
  std::string name;
  bool on_device = false;

  auto operator<=>(const TraceName&) const = default;
  void state(StateIo& io) {
    io(name);
    io(on_device);
  }
};

struct TraceTotal {
  std::uint64_t count = 0;
  std::int64_t duration_ns = 0;  // sum
};

// Of one rank of a trace.
struct TraceTotals {
  static constexpr std::size_t kMostNames = 32'768;

  std::map<TraceName, TraceTotal> names;
  std::uint64_t steps = 0;
  std::uint64_t left_out = 0;  // events of further names

  // Adds the events of the host, and the work of devices, that count. O(n).
  void add(const SelectedCycle& selected);

  void state(StateIo& io);
};

struct TraceChange {
  TraceName of;
  TraceTotal control;
  TraceTotal test;

  std::int64_t count_difference() const {
    return static_cast<std::int64_t>(test.count) - static_cast<std::int64_t>(control.count);
  }
  std::int64_t duration_difference_ns() const { return test.duration_ns - control.duration_ns; }
  // HTA's category: '+' more often in `test`, '-' less often, '=' as often.
  const char* category() const {
    if (test.count == control.count) return "=";
    return test.count > control.count ? "+" : "-";
  }
};

// Every name that either has: what takes the most more or less time comes first, then by name.
std::vector<TraceChange> trace_diff(const TraceTotals& control, const TraceTotals& test);

}  // namespace trainwatch
