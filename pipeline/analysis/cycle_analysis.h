// An analysis of cycles: a result of each, and how the results are written.
#pragma once

#include <utility>
#include <vector>

#include "pipeline/analysis/cycle_results.h"
#include "pipeline/cycle/step_selection.h"
#include "trainwatch/analysis.h"

namespace trainwatch {

template <class Result>
class CycleAnalysis : public Analysis {
 public:
  CycleAnalysis(const Vocabulary& vocabulary, StepSelection steps)
      : steps_(steps), results_(vocabulary) {}

  void on_cycle(const CycleTrace& cycle) final {
    left_out_ += cycle.left_out;
    Result result = result_of(SelectedCycle(cycle, steps_));
    if (!results_.add(cycle, std::move(result))) ++left_out_;
  }
  void state(StateIo& io) final {
    io(results_);
    io(left_out_);
  }

 protected:
  // The bounded result of a cycle; its state() checks the bound.
  virtual Result result_of(const SelectedCycle& selected) = 0;
  const CycleResults<Result>& results() const { return results_; }

  // A part of a result is beyond a bound, which was not made.
  void leave_out() { ++left_out_; }
  // Drops what is beyond a bound, and counts it.
  template <class Item>
  void bound(std::vector<Item>& items, std::size_t most) {
    if (items.size() <= most) return;
    left_out_ += items.size() - most;
    items.resize(most);
  }
  // The end of the object that write() puts.
  void end(JsonWriter& json) const { json.field("left_out", left_out_).end_object(); }

 private:
  StepSelection steps_;
  CycleResults<Result> results_;
  std::uint64_t left_out_ = 0;  // rows of cycles, cycles, and parts of results
};

// The spec of one, which takes nothing but cycles.
template <class AnalysisType>
AnalysisSpec cycle_analysis_spec(std::string_view name, std::string_view summary) {
  AnalysisSpec spec{name, summary};
  spec.make = make_analysis<AnalysisType>;
  spec.cycles = true;
  return spec;
}

}  // namespace trainwatch
