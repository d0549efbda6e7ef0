#include "pipeline/cycle/step_measure.h"

#include <algorithm>
#include <utility>

#include "pipeline/cycle/work_intervals.h"

namespace trainwatch {
namespace {

// FNV-1a: the same in every process, as it is compared with what another one stored.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

IntervalSet united(const IntervalSet& a, const IntervalSet& b) {
  std::vector<Interval> all = a.intervals();
  all.insert(all.end(), b.intervals().begin(), b.intervals().end());
  return IntervalSet(std::move(all));
}

// When there was work, each set with all that stands before it: what a set has more than the one
// before is work that nothing of those hides.
struct WorkTimes {
  IntervalSet computation;
  IntervalSet with_memory;
  IntervalSet with_communication;
  IntervalSet busy;
  IntervalSet communication;
  IntervalSet overlapped;

  WorkTimes(const CycleTrace& cycle, DeviceRows rows)
      : computation(work_intervals(cycle, rows, WorkClass::computation)),
        with_memory(united(computation, work_intervals(cycle, rows, WorkClass::memory))),
        busy(busy_intervals(cycle, rows)),
        communication(work_intervals(cycle, rows, WorkClass::communication)) {
    with_communication = united(with_memory, communication);
    overlapped = intersection(communication, computation);
  }
};

class StepMeter {
 public:
  StepMeter(const CycleTrace& cycle, DeviceRows by_start)
      : cycle_(cycle),
        by_start_(by_start),
        work_(cycle, by_start),
        data_waits_(cycle.data_waits),
        host_pauses_(cycle.host_pauses),
        blocking_calls_(cycle.blocking_calls) {}

  // All of the work.
  Interval extent() const {
    const auto& busy = work_.busy.intervals();
    return busy.empty() ? Interval{} : Interval{busy.front().start_ns, busy.back().end_ns};
  }

  StepMeasure measure(const StepRow& step) const {
    const Interval within{step.start_ns, step.end_ns()};
    StepMeasure found;
    found.number = step.number;
    found.start_ns = step.start_ns;
    found.duration_ns = step.duration_ns;
    found.data_wait_ns = step.data_wait_ns;
    found.computation_ns = work_.computation.covered_ns(within);
    found.communication_ns = work_.communication.covered_ns(within);
    found.overlapped_ns = work_.overlapped.covered_ns(within);
    const std::int64_t memory = work_.with_memory.covered_ns(within);
    const std::int64_t communication = work_.with_communication.covered_ns(within);
    found.exposed_memory_ns = memory - found.computation_ns;
    found.exposed_communication_ns = communication - memory;
    found.exposed_other_ns = work_.busy.covered_ns(within) - communication;
    if (!by_start_.empty()) add_gaps(within, found);
    add_collectives(within, found);
    return found;
  }

 private:
  void add_gaps(const Interval& within, StepMeasure& found) const {
    std::int64_t idle_since = within.start_ns;
    const auto& busy = work_.busy.intervals();
    auto next = std::upper_bound(
        busy.begin(), busy.end(), within.start_ns,
        [](std::int64_t time, const Interval& known) { return time < known.end_ns; });
    for (; next != busy.end() && next->start_ns < within.end_ns; ++next) {
      if (next->start_ns > idle_since) add_gap({idle_since, next->start_ns}, found);
      idle_since = next->end_ns;
    }
    if (idle_since < within.end_ns) add_gap({idle_since, within.end_ns}, found);
  }

  void add_gap(const Interval& gap, StepMeasure& found) const {
    const auto add = [&found](IdleReason reason, std::int64_t ns) {
      found.idle_ns[static_cast<std::size_t>(reason)] += ns;
    };
    const std::int64_t waited = data_waits_.covered_ns(gap);
    const std::int64_t paused = host_pauses_.covered_ns(gap);
    add(IdleReason::data_wait, waited);
    add(IdleReason::host_pause, paused);
    add(reason_of(gap), gap.end_ns - gap.start_ns - waited - paused);
  }

  // Of the part of a gap in which the host neither waited for data nor paused.
  IdleReason reason_of(const Interval& gap) const {
    const auto next = std::lower_bound(by_start_.begin(), by_start_.end(), gap.end_ns,
                                       [this](std::uint32_t index, std::int64_t time) {
                                         return cycle_.device[index].start_ns < time;
                                       });
    if (next != by_start_.end()) {
      const std::uint32_t launch = cycle_.device[*next].launch;
      if (launch == kNoRow || cycle_.launches[launch].start_ns < gap.start_ns)
        return IdleReason::queued;
    }
    const Interval beginning{gap.start_ns, gap.start_ns + 1};
    return blocking_calls_.covered_ns(beginning) > 0 ? IdleReason::synchronization
                                                     : IdleReason::launch;
  }

  void add_collectives(const Interval& within, StepMeasure& found) const {
    auto row = std::lower_bound(
        cycle_.collectives.begin(), cycle_.collectives.end(), within.start_ns,
        [](const CollectiveRow& known, std::int64_t time) { return known.start_ns < time; });
    for (; row != cycle_.collectives.end() && row->start_ns < within.end_ns; ++row) {
      if (found.collectives.size() == StepMeasure::kMostCollectives) return;
      found.collectives.push_back(
          {hash_of(cycle_.names.text(row->group)), row->sequence, row->duration_ns});
    }
  }

  const CycleTrace& cycle_;
  DeviceRows by_start_;
  WorkTimes work_;
  IntervalSet data_waits_;
  IntervalSet host_pauses_;
  IntervalSet blocking_calls_;
};

}  // namespace

std::vector<StepMeasure> measure_steps(const CycleTrace& cycle, DeviceRows by_start) {
  const StepMeter meter(cycle, by_start);
  std::vector<StepMeasure> steps;
  for (const StepRow& step : cycle.steps) steps.push_back(meter.measure(step));
  if (cycle.steps.empty() && !by_start.empty()) {
    const Interval extent = meter.extent();
    steps.push_back(meter.measure({extent.start_ns, extent.end_ns - extent.start_ns, kNoStep, 0}));
  }
  return steps;
}

}  // namespace trainwatch
