// The totals of each rank of a trace by the names of its events: one side of trace_diff. No
// analysis that is asked for by its name; `analyze` makes two, and compares them.
#pragma once

#include <cstdint>
#include <map>

#include "pipeline/cycle/trace_diff.h"
#include "trainwatch/analysis.h"

namespace trainwatch {

class TraceTotalsAnalysis final : public Analysis {
 public:
  static constexpr std::size_t kMostRanks = 64;

  TraceTotalsAnalysis(const Vocabulary& vocabulary, StepSelection steps)
      : vocabulary_(vocabulary), steps_(steps) {}

  void on_cycle(const CycleTrace& cycle) override;
  void state(StateIo& io) override;
  void write(JsonWriter& json) const override;

  // By rank, kNoRank where nothing says it; all its cycles together.
  const std::map<std::int32_t, TraceTotals>& ranks() const { return ranks_; }
  std::uint64_t ranks_left_out() const { return left_out_; }

 private:
  const Vocabulary& vocabulary_;
  StepSelection steps_;
  std::map<std::int32_t, TraceTotals> ranks_;
  std::uint64_t left_out_ = 0;  // cycles of further ranks
};

extern const AnalysisSpec trace_totals_spec;

}  // namespace trainwatch
