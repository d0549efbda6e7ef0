#include "pipeline/cycle/step_measure.h"

#include <algorithm>
#include <utility>

namespace trainwatch {
namespace {

// FNV-1a: the same in every process, as it is compared with what another one stored.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

}  // namespace

StepMeter::StepMeter(const CycleTrace& cycle, const Interval& extent)
    : cycle_(cycle),
      data_waits_(cycle.data_waits),
      host_pauses_(cycle.host_pauses),
      blocking_calls_(cycle.blocking_calls) {
  const auto add_step = [this](const StepRow& step) {
    const std::int64_t free = times_.empty() ? step.start_ns : times_.back().end_ns;
    const std::int64_t start = std::max(step.start_ns, free);
    times_.push_back({start, std::max(start, step.end_ns())});
    StepMeasure& measure = steps_.emplace_back();
    measure.number = step.number;
    measure.start_ns = step.start_ns;
    measure.duration_ns = step.duration_ns;
    measure.data_wait_ns = step.data_wait_ns;
    add_collectives(times_.back(), measure);
  };
  for (const StepRow& step : cycle.steps) add_step(step);
  if (cycle.steps.empty() && extent.end_ns > extent.start_ns)
    add_step({extent.start_ns, extent.end_ns - extent.start_ns, kNoStep, 0});
}

void StepMeter::add(const WorkSegment& segment) {
  while (first_open_ < times_.size() && times_[first_open_].end_ns <= segment.start_ns)
    ++first_open_;
  for (std::size_t i = first_open_; i < times_.size(); ++i) {
    const Interval part{std::max(segment.start_ns, times_[i].start_ns),
                        std::min(segment.end_ns, times_[i].end_ns)};
    if (times_[i].start_ns >= segment.end_ns) return;
    if (part.start_ns < part.end_ns) add_part(segment, part, steps_[i]);
  }
}

void StepMeter::add_part(const WorkSegment& segment, const Interval& part, StepMeasure& to) const {
  const std::int64_t lasts = part.end_ns - part.start_ns;
  const bool computes = segment.has(WorkClass::computation);
  if (segment.has(WorkClass::communication)) {
    to.communication_ns += lasts;
    if (computes) to.overlapped_ns += lasts;
  }
  if (computes) {
    to.computation_ns += lasts;
  } else if (segment.has(WorkClass::memory)) {
    to.exposed_memory_ns += lasts;
  } else if (segment.has(WorkClass::communication)) {
    to.exposed_communication_ns += lasts;
  } else if (segment.has(WorkClass::other)) {
    to.exposed_other_ns += lasts;
  } else {
    add_gap(part, segment.next, to);
  }
}

void StepMeter::add_gap(const Interval& gap, const DeviceRow* next, StepMeasure& to) const {
  const auto add_idle = [&to](IdleReason reason, std::int64_t ns) {
    to.idle_ns[static_cast<std::size_t>(reason)] += ns;
  };
  const std::int64_t waited = data_waits_.covered_ns(gap);
  const std::int64_t paused = host_pauses_.covered_ns(gap);
  add_idle(IdleReason::data_wait, waited);
  add_idle(IdleReason::host_pause, paused);
  add_idle(reason_of(gap, next), gap.end_ns - gap.start_ns - waited - paused);
}

// Of the part of a gap in which the host neither waited for data nor paused.
IdleReason StepMeter::reason_of(const Interval& gap, const DeviceRow* next) const {
  if (next != nullptr) {
    const bool launched =
        next->launch == kNoRow || cycle_.launches[next->launch].start_ns < gap.start_ns;
    if (launched) return IdleReason::queued;
  }
  const Interval beginning{gap.start_ns, gap.start_ns + 1};
  return blocking_calls_.covered_ns(beginning) > 0 ? IdleReason::synchronization
                                                   : IdleReason::launch;
}

void StepMeter::add_collectives(const Interval& within, StepMeasure& to) const {
  auto row =
      std::ranges::lower_bound(cycle_.collectives, within.start_ns, {}, &CollectiveRow::start_ns);
  for (; row != cycle_.collectives.end() && row->start_ns < within.end_ns; ++row) {
    if (to.collectives.size() == StepMeasure::kMostCollectives) return;
    to.collectives.push_back(
        {hash_of(cycle_.names.text(row->group)), row->sequence, row->duration_ns});
  }
}

}  // namespace trainwatch
