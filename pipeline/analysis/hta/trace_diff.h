// SPDX-License-Identifier: Apache-2.0
// What differs between two traces, by the names of their events: HTA's TraceDiff.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/cycle/step_selection.h"
#include "trainwatch/analysis.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// An event's name and where it was. Steps have one name, "ProfilerStep": their numbers are not what
// differs.
struct TraceName {
  std::string name;
  bool on_device = false;

  auto operator<=>(const TraceName&) const = default;
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

  // Adds the events of the host, and the activities of devices, that count. O(n).
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

// How `analyze` is asked for it.
inline constexpr std::string_view kTraceDiff = "trace_diff";
inline constexpr std::string_view kTraceDiffUsage =
    "trace_diff compares two traces, the control first: "
    "trainwatch analyze CONTROL TEST --what=trace_diff";

// The totals of each rank of a trace by the names of its events: one side of trace_diff. It is not
// in the catalog: `analyze` runs it over each of the two traces, and compares them.
class TraceTotalsAnalysis final : public Analysis {
 public:
  static constexpr std::size_t kMostRanks = 64;

  TraceTotalsAnalysis(const Interner& interner, StepSelection steps)
      : interner_(interner), steps_(steps) {}

  void on_cycle(const CycleTrace& cycle) override;
  void state(StateIo& io) override;
  Figures figures() const override;

  // By rank, kNoRank where nothing says it; all its cycles together.
  const std::map<std::int32_t, TraceTotals>& ranks() const { return ranks_; }
  std::uint64_t ranks_left_out() const { return left_out_; }

 private:
  const Interner& interner_;
  StepSelection steps_;
  std::map<std::int32_t, TraceTotals> ranks_;
  std::uint64_t left_out_ = 0;  // cycles of further ranks
};

const AnalysisSpec& trace_totals_analysis();

}  // namespace trainwatch
