// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/cycle_history.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "trainwatch/release_memory.h"
#include "trainwatch/stats/median.h"

namespace trainwatch {
namespace {

// A part of a step's time, and what it is called when a step has more of it than others.
struct Part {
  CauseName cause;
  std::int64_t (*of)(const StepSummary& step);
  const char* what;
};

template <IdleReason Reason>
std::int64_t idle(const StepSummary& step) {
  return step.idle(Reason);
}

constexpr std::array kParts = {
    Part{CauseName::input_wait, idle<IdleReason::data_wait>, "with the GPU idle for want of data"},
    Part{CauseName::host_pause, idle<IdleReason::host_pause>,
         "in which the host did nothing that the profiler saw and the GPU was idle"},
    Part{CauseName::synchronization, idle<IdleReason::synchronization>,
         "with the GPU idle after the host had waited for it"},
    Part{CauseName::kernel_launch, idle<IdleReason::launch>,
         "with the GPU idle until the host launched more work"},
    Part{CauseName::communication,
         [](const StepSummary& step) { return step.exposed_communication_ns; },
         "in communication that nothing hid"},
    Part{CauseName::memory_copy, [](const StepSummary& step) { return step.exposed_memory_ns; },
         "in copies while nothing was computed"},
    Part{CauseName::compute_growth, [](const StepSummary& step) { return step.computation_ns; },
         "in computation"},
};

double median_ns(const std::vector<StepSummary>& steps,
                 std::int64_t (*part)(const StepSummary& step)) {
  std::vector<double> values;
  values.reserve(steps.size());
  for (const StepSummary& step : steps) values.push_back(static_cast<double>(part(step)));
  return median_of(std::move(values));
}

std::string explanation(double extra_ns, const char* what) {
  char text[160];
  std::snprintf(text, sizeof text, "The profiler saw %.3f s more than usual %s.", extra_ns / 1e9,
                what);
  return text;
}

}  // namespace

void CycleHistory::on(const CycleSummary& cycle) {
  if (cycle.activities == 0 || (ranks_.size() == kMaxRanks && !ranks_.contains(cycle.subject)))
    return;
  changed_ = true;
  std::vector<StepSummary>& kept = ranks_[cycle.subject];
  kept.assign(cycle.steps.begin(), cycle.steps.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                             cycle.steps.size(), kMaxSteps)));
  for (StepSummary& step : kept) release_memory(step.collectives);
}

std::optional<Cause> CycleHistory::explain(SubjectId rank, Time step_start) const {
  const auto known = ranks_.find(rank);
  if (known == ranks_.end() || known->second.size() < kFewestSteps) return std::nullopt;
  const std::vector<StepSummary>& steps = known->second;
  const auto step = std::ranges::find(steps, to_ns(step_start), &StepSummary::start_ns);
  if (step == steps.end()) return std::nullopt;
  const auto longer = [&](std::int64_t (*part)(const StepSummary&)) {
    return static_cast<double>(part(*step)) - median_ns(steps, part);
  };
  const double lost = longer([](const StepSummary& of) { return of.duration_ns; });
  if (lost <= 0) return std::nullopt;
  const Part& most =
      *std::ranges::max_element(kParts, {}, [&](const Part& part) { return longer(part.of); });
  const double extra = longer(most.of);
  return Cause{most.cause, std::clamp(extra / lost, 0.0, 1.0), explanation(extra, most.what), {}};
}

void CycleHistory::state(StateIo& io) {
  io(ranks_);
  if (ranks_.size() > kMaxRanks) io.fail();
  for (const auto& [rank, steps] : ranks_) {
    if (steps.size() > kMaxSteps) io.fail();
  }
}

}  // namespace trainwatch
