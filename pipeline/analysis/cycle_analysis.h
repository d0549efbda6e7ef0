// An analysis of cycles: a result of each, and how the results are written.
#pragma once

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
    results_.add(cycle, result_of(SelectedCycle(cycle, steps_)));
  }
  void state(StateIo& io) final { io(results_); }

 protected:
  // The bounded result of a cycle; its state() checks the bound.
  virtual Result result_of(const SelectedCycle& selected) const = 0;
  const CycleResults<Result>& results() const { return results_; }

 private:
  StepSelection steps_;
  CycleResults<Result> results_;
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
