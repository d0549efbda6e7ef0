// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/hta/trace_diff.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "pipeline/analysis/hta/durations_by_name.h"

namespace trainwatch {
namespace {

std::string trace_name(std::string_view name) {
  constexpr std::string_view kStep = "ProfilerStep";
  return name.starts_with(kStep) ? std::string(kStep) : cut_name(name);
}

}  // namespace

void TraceTotals::add(const SelectedCycle& selected) {
  const CycleTrace& cycle = selected.cycle();
  std::vector<TraceTotal> by_id(2 * cycle.names.size());
  const auto count = [&](NameId name, bool on_device, std::int64_t duration_ns) {
    TraceTotal& total = by_id[2 * static_cast<std::size_t>(name) + (on_device ? 1 : 0)];
    ++total.count;
    total.duration_ns += duration_ns;
  };
  for (const HostEvent& row : cycle.host) {
    if (selected.counts(row)) count(row.name, false, row.duration_ns);
  }
  for (const std::uint32_t index : selected.rows())
    count(cycle.device[index].name, true, cycle.device[index].duration_ns);
  for (std::size_t i = 0; i < by_id.size(); ++i) {
    if (by_id[i].count == 0) continue;
    TraceName of{trace_name(cycle.names.text(static_cast<NameId>(i / 2))), i % 2 == 1};
    const auto known = names.find(of);
    if (known == names.end() && names.size() >= kMostNames) {
      left_out += by_id[i].count;
      continue;
    }
    TraceTotal& total = known != names.end() ? known->second : names[std::move(of)];
    total.count += by_id[i].count;
    total.duration_ns += by_id[i].duration_ns;
  }
  steps += static_cast<std::uint64_t>(std::ranges::count_if(
      cycle.steps, [&](const StepRow& step) { return selected.counts(step); }));
  left_out += cycle.left_out;
}

void TraceTotals::state(StateIo& io) {
  io(names);
  if (names.size() > kMostNames) io.fail();
  io(steps);
  io(left_out);
}

std::vector<TraceChange> trace_diff(const TraceTotals& control, const TraceTotals& test) {
  std::map<TraceName, TraceChange> by_name;
  for (const auto& [of, total] : control.names) by_name[of].control = total;
  for (const auto& [of, total] : test.names) by_name[of].test = total;
  std::vector<TraceChange> changes;
  changes.reserve(by_name.size());
  for (auto& [of, change] : by_name) {
    change.of = of;
    changes.push_back(std::move(change));
  }
  // They are sorted by name already.
  std::stable_sort(changes.begin(), changes.end(), [](const TraceChange& a, const TraceChange& b) {
    return std::abs(a.duration_difference_ns()) > std::abs(b.duration_difference_ns());
  });
  return changes;
}

void TraceTotalsAnalysis::on_cycle(const CycleTrace& cycle) {
  const std::int32_t rank = interner_.subjects[cycle.subject].rank;
  if (ranks_.size() >= kMostRanks && !ranks_.contains(rank)) {
    ++left_out_;
    return;
  }
  ranks_[rank].add(SelectedCycle(cycle, steps_));
}

void TraceTotalsAnalysis::state(StateIo& io) {
  io(ranks_);
  if (ranks_.size() > kMostRanks) io.fail();
  io(left_out_);
}

Figures TraceTotalsAnalysis::figures() const {
  Figures out;
  FigureTable& table = out.table({"name", "on", "count", "duration_ns", "rank"});
  for (const auto& [rank, totals] : ranks_) {
    for (const auto& [of, total] : totals.names)
      table.row(of.name, of.on_device ? "device" : "host", total.count, total.duration_ns, rank);
  }
  out.add("left_out", left_out_);
  return out;
}

const AnalysisSpec& trace_totals_analysis() {
  static const AnalysisSpec spec =
      make_spec<TraceTotalsAnalysis>({.name = "trace_totals",
                                      .summary = "Time by the names of events",
                                      .live = false,
                                      .host_events = true});
  return spec;
}

}  // namespace trainwatch
