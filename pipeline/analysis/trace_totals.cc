#include "pipeline/analysis/trace_totals.h"

#include "pipeline/analysis/json_table.h"

namespace trainwatch {

void TraceTotalsAnalysis::on_cycle(const CycleTrace& cycle) {
  const std::int32_t rank = vocabulary_.subjects[cycle.subject].rank;
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

void TraceTotalsAnalysis::write(JsonWriter& json) const {
  JsonTable table(json, {"name", "on", "count", "duration_ns", "rank"});
  for (const auto& [rank, totals] : ranks_) {
    for (const auto& [of, total] : totals.names)
      table.row(of.name, of.on_device ? "device" : "host", total.count, total.duration_ns, rank);
  }
  table.end_rows();
  json.field("left_out", left_out_).end_object();
}

extern const AnalysisSpec trace_totals_spec{.name = "trace_totals",
                                            .summary = "Time by the names of events",
                                            .make = make_analysis<TraceTotalsAnalysis>,
                                            .live = false,
                                            .cycles = true,
                                            .host_rows = true};

}  // namespace trainwatch
