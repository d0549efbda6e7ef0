#include "pipeline/cycle/cycle_summary.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "pipeline/cycle/idle_time.h"
#include "pipeline/cycle/launches.h"

namespace trainwatch {
namespace {

// FNV-1a: the same in every process, as it is compared with stored values.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

}  // namespace

StepAccumulator::StepAccumulator(const CycleTrace& cycle, const Interval& extent)
    : cycle_(cycle),
      data_waits_(cycle.data_waits),
      host_pauses_(cycle.host_pauses),
      blocking_calls_(cycle.blocking_calls) {
  const auto add_step = [this](const StepRow& step) {
    const std::int64_t free = times_.empty() ? step.start_ns : times_.back().end_ns;
    const std::int64_t start = std::max(step.start_ns, free);
    times_.push_back({start, std::max(start, step.end_ns())});
    StepSummary& summary = steps_.emplace_back();
    summary.number = step.number;
    summary.start_ns = step.start_ns;
    summary.duration_ns = step.duration_ns;
    summary.data_wait_ns = step.data_wait_ns;
    add_collectives(times_.back(), summary);
  };
  for (const StepRow& step : cycle.steps) add_step(step);
  if (cycle.steps.empty() && extent.end_ns > extent.start_ns)
    add_step({extent.start_ns, extent.end_ns - extent.start_ns, kNoStep, 0});
}

void StepAccumulator::add(const ActivitySegment& segment) {
  while (first_open_ < times_.size() && times_[first_open_].end_ns <= segment.start_ns)
    ++first_open_;
  for (std::size_t i = first_open_; i < times_.size(); ++i) {
    const Interval part{std::max(segment.start_ns, times_[i].start_ns),
                        std::min(segment.end_ns, times_[i].end_ns)};
    if (times_[i].start_ns >= segment.end_ns) return;
    if (part.start_ns < part.end_ns) add_part(segment, part, steps_[i]);
  }
}

void StepAccumulator::add_part(const ActivitySegment& segment, const Interval& part,
                               StepSummary& to) const {
  const std::int64_t lasts = part.end_ns - part.start_ns;
  const bool computes = segment.has(ActivityClass::computation);
  if (segment.has(ActivityClass::communication)) {
    to.communication_ns += lasts;
    if (computes) to.overlapped_ns += lasts;
  }
  if (computes) {
    to.computation_ns += lasts;
  } else if (segment.has(ActivityClass::memory)) {
    to.exposed_memory_ns += lasts;
  } else if (segment.has(ActivityClass::communication)) {
    to.exposed_communication_ns += lasts;
  } else if (segment.has(ActivityClass::other)) {
    to.exposed_other_ns += lasts;
  } else {
    add_gap(part, segment.next, to);
  }
}

void StepAccumulator::add_gap(const Interval& gap, const DeviceActivity* next,
                              StepSummary& to) const {
  const auto add_idle = [&to](IdleReason reason, std::int64_t ns) {
    to.idle_ns[static_cast<std::size_t>(reason)] += ns;
  };
  const std::int64_t waited = data_waits_.covered_ns(gap);
  const std::int64_t paused = host_pauses_.covered_ns(gap);
  add_idle(IdleReason::data_wait, waited);
  add_idle(IdleReason::host_pause, paused);
  add_idle(reason_of(gap, next), gap.end_ns - gap.start_ns - waited - paused);
}

// For the part of a gap in which the host neither waited for data nor paused.
IdleReason StepAccumulator::reason_of(const Interval& gap, const DeviceActivity* next) const {
  if (next != nullptr) {
    const bool launched =
        next->launch == kNoRow || cycle_.launches[next->launch].start_ns < gap.start_ns;
    if (launched) return IdleReason::queued;
  }
  const Interval beginning{gap.start_ns, gap.start_ns + 1};
  return blocking_calls_.covered_ns(beginning) > 0 ? IdleReason::synchronization
                                                   : IdleReason::launch;
}

void StepAccumulator::add_collectives(const Interval& within, StepSummary& to) const {
  auto row =
      std::ranges::lower_bound(cycle_.collectives, within.start_ns, {}, &CollectiveRow::start_ns);
  for (; row != cycle_.collectives.end() && row->start_ns < within.end_ns; ++row) {
    if (to.collectives.size() == StepSummary::kMostCollectives) return;
    to.collectives.push_back(
        {hash_of(cycle_.names.text(row->group)), row->sequence, row->duration_ns});
  }
}

namespace {

// For the device as a whole: activity on any stream ends a gap.
void add_segment(const CycleTrace& cycle, const ActivitySegment& segment, CycleSummary& to) {
  const std::int64_t lasts = segment.end_ns - segment.start_ns;
  to.window_ns += lasts;
  if (segment.classes == 0) {
    const IdleCause cause = idle_cause(cycle, *segment.next, segment.start_ns);
    to.idle_ns[static_cast<std::size_t>(cause)] += lasts;
    return;
  }
  to.busy_ns += lasts;
  const bool computes = segment.has(ActivityClass::computation);
  if (computes) to.computation_ns += lasts;
  if (segment.has(ActivityClass::memory)) to.memory_ns += lasts;
  if (segment.has(ActivityClass::communication)) {
    to.communication_ns += lasts;
    if (computes) to.overlapped_ns += lasts;
  }
}

void count_activities(const CycleTrace& cycle, DeviceRows rows, CycleSummary& found) {
  found.activities = rows.size();
  found.launched_activities = static_cast<std::uint64_t>(std::ranges::count_if(
      rows, [&](std::uint32_t index) { return cycle.device[index].launch != kNoRow; }));
  for (const LaunchedActivity& activity : launched_activities(cycle, rows)) {
    const std::int64_t call = cycle.launches[activity.launch].duration_ns;
    ++found.launches;
    if (activity.device_ns < call) ++found.short_launches;
    found.launch_calls_ns += call;
    found.launched_ns += activity.device_ns;
  }
}

}  // namespace

CycleSummary summarize(const SelectedCycle& selected) {
  const CycleTrace& cycle = selected.cycle();
  CycleSummary found;
  found.subject = cycle.subject;
  found.number = cycle.number;
  found.world_size = cycle.world_size;
  count_activities(cycle, selected.rows(), found);
  found.steps =
      summarize_steps(cycle, rows_by_start(cycle, selected.rows()),
                      [&](const ActivitySegment& segment) { add_segment(cycle, segment, found); });
  return found;
}

}  // namespace trainwatch
