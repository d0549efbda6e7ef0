// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cycle/step_selection.h"

#include <algorithm>
#include <limits>

namespace trainwatch {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

bool has_one_step_at_most(const CycleTrace& cycle) {
  return std::ranges::all_of(
      cycle.steps, [&](const StepRow& step) { return step.number == cycle.steps.front().number; });
}

std::int64_t end_of_last_step(const CycleTrace& cycle) {
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (const StepRow& step : cycle.steps) end = std::max(end, step.end_ns());
  return end;
}

std::int64_t start_of_last_step(const CycleTrace& cycle) {
  std::int64_t start = cycle.steps.back().start_ns;
  for (const AnnotationRow& annotation : cycle.annotations) {
    if (annotation.on_device && cycle.names.text(annotation.name).starts_with("ProfilerStep"))
      start = std::max(start, annotation.start_ns);
  }
  return start;
}

constexpr std::size_t kNoStepIndex = std::numeric_limits<std::size_t>::max();

// The last step that began before or at this time, unless it has ended.
std::size_t step_at(const CycleTrace& cycle, std::int64_t time_ns) {
  const auto after =
      std::upper_bound(cycle.steps.begin(), cycle.steps.end(), time_ns,
                       [](std::int64_t time, const StepRow& step) { return time < step.start_ns; });
  if (after == cycle.steps.begin() || time_ns >= std::prev(after)->end_ns()) return kNoStepIndex;
  return static_cast<std::size_t>(after - cycle.steps.begin()) - 1;
}

}  // namespace

SelectedCycle::SelectedCycle(const CycleTrace& cycle, StepSelection steps)
    : cycle_(cycle), last_host_start_ns_(kNoLimit), last_device_start_ns_(kNoLimit) {
  all_ = steps == StepSelection::all || has_one_step_at_most(cycle);
  without_last_ = !all_ && steps == StepSelection::without_last;
  if (!all_ && steps == StepSelection::included) last_host_start_ns_ = end_of_last_step(cycle);
  if (without_last_) last_host_start_ns_ = last_device_start_ns_ = start_of_last_step(cycle) - 1;
  rows_.reserve(cycle.device.size());
  for (std::uint32_t i = 0; i < cycle.device.size(); ++i) {
    const DeviceActivity& row = cycle.device[i];
    if (cycle.stream_of(row) == kNoStream) continue;
    const bool launched = row.launch != kNoLaunch;
    if (all_ || (launched && cycle.launches[row.launch].start_ns <= last_host_start_ns_))
      rows_.push_back(i);
  }
}

// Annotations on the device have no launch: if the last step is included, they all count.
bool SelectedCycle::counts(const AnnotationRow& annotation) const {
  return annotation.start_ns <=
         (annotation.on_device ? last_device_start_ns_ : last_host_start_ns_);
}

bool SelectedCycle::counts(const StepRow& step) const {
  return !without_last_ || step.number != cycle_.steps.back().number;
}

std::vector<StepActivity> activity_by_step(const SelectedCycle& selected) {
  const CycleTrace& cycle = selected.cycle();
  std::vector<StepActivity> steps(cycle.steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].number = cycle.steps[i].number;
    steps[i].duration_ns = cycle.steps[i].duration_ns;
  }
  for (const std::uint32_t index : selected.rows()) {
    const DeviceActivity& row = cycle.device[index];
    if (row.launch == kNoLaunch) continue;
    const std::size_t step = step_at(cycle, cycle.launches[row.launch].start_ns);
    if (step != kNoStepIndex) steps[step].rows.push_back(index);
  }
  std::erase_if(steps, [](const StepActivity& step) { return step.rows.empty(); });
  return steps;
}

}  // namespace trainwatch
