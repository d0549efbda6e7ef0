#include "pipeline/cycle/cycle_summary.h"

#include <algorithm>
#include <limits>
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

// Calls that returned only when their copy was done: a pageable `.item()` waits for the device
// without a call that says so.
void add_blocking_copies(const CycleTrace& cycle, std::vector<Interval>& calls) {
  for (const DeviceActivity& row : cycle.device) {
    if (row.kind != DeviceKind::memory_copy || row.launch == kNoRow) continue;
    const LaunchRow& call = cycle.launches[row.launch];
    if (call.end_ns() >= row.end_ns()) calls.push_back({call.start_ns, call.end_ns()});
  }
}

std::vector<Interval> blocking_calls_of(const CycleTrace& cycle) {
  std::vector<Interval> calls = cycle.blocking_calls;
  add_blocking_copies(cycle, calls);
  return calls;
}

// How long after the end of its call an activity usually starts if the device has nothing else to
// do: the median over those that were launched while it was idle.
std::int64_t launch_latency_ns(const CycleTrace& cycle, DeviceRows by_start) {
  std::vector<std::int64_t> latencies;
  std::int64_t busy_until_ns = std::numeric_limits<std::int64_t>::min();
  for (const std::uint32_t index : by_start) {
    const DeviceActivity& row = cycle.device[index];
    if (row.launch != kNoRow && cycle.launches[row.launch].start_ns >= busy_until_ns) {
      const std::int64_t latency = row.start_ns - cycle.launches[row.launch].end_ns();
      latencies.push_back(std::clamp<std::int64_t>(latency, 0, kUsualKernelGapNs));
    }
    busy_until_ns = std::max(busy_until_ns, row.end_ns());
  }
  if (latencies.empty()) return 0;
  const auto middle = latencies.begin() + static_cast<std::ptrdiff_t>((latencies.size() - 1) / 2);
  std::ranges::nth_element(latencies, middle);
  return *middle;
}

}  // namespace

StepAccumulator::StepAccumulator(const CycleTrace& cycle, DeviceRows by_start)
    : cycle_(cycle),
      launch_latency_ns_(launch_latency_ns(cycle, by_start)),
      data_waits_(cycle.data_waits),
      host_pauses_(cycle.host_pauses),
      blocking_calls_(blocking_calls_of(cycle)) {
  if (!by_start.empty()) extent_.start_ns = cycle.device[by_start.front()].start_ns;
  for (const std::uint32_t index : by_start)
    extent_.end_ns = std::max(extent_.end_ns, cycle.device[index].end_ns());
  for (const StepRow& step : cycle.steps) add_step(step);
  if (cycle.steps.empty() && extent_.end_ns > extent_.start_ns)
    add_step({extent_.start_ns, extent_.end_ns - extent_.start_ns, kNoStep, 0});
  std::ranges::stable_sort(edges_, {}, &Edge::at_ns);
}

void StepAccumulator::add_step(const StepRow& step) {
  const std::int64_t free = times_.empty() ? step.start_ns : times_.back().end_ns;
  const std::int64_t start = std::max(step.start_ns, free);
  times_.push_back({start, std::max(start, step.end_ns())});
  StepSummary& summary = steps_.emplace_back();
  summary.number = step.number;
  summary.start_ns = step.start_ns;
  summary.duration_ns = step.duration_ns;
  summary.data_wait_ns = step.data_wait_ns;
  add_collectives(times_.back(), steps_.size() - 1);
}

void StepAccumulator::add(const ActivitySegment& segment) {
  pass_edges(segment);
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
    add_gap(segment, part, to);
  }
}

// What ended the gap was ready to run from some time on; until then the device waited for the host.
void StepAccumulator::add_gap(const ActivitySegment& gap, const Interval& part,
                              StepSummary& to) const {
  const Interval beginning{part.start_ns, part.start_ns + 1};
  const bool synchronised = blocking_calls_.covered_ns(beginning) > 0;
  const std::int64_t ready = std::clamp(ready_ns(gap), part.start_ns, part.end_ns);
  add_idle({part.start_ns, ready}, synchronised ? IdleReason::synchronization : IdleReason::launch,
           to);
  add_idle({ready, part.end_ns}, IdleReason::queued, to);
}

// From the end of its call plus the usual latency; a little more latency than usual is no queue.
std::int64_t StepAccumulator::ready_ns(const ActivitySegment& gap) const {
  if (gap.next == nullptr) return gap.end_ns;
  if (gap.next->launch == kNoRow) return gap.start_ns;
  const LaunchRow& call = cycle_.launches[gap.next->launch];
  if (call.start_ns < gap.start_ns) return gap.start_ns;  // the host was not late
  const std::int64_t ready = call.end_ns() + launch_latency_ns_;
  return gap.end_ns - ready < kUsualKernelGapNs ? gap.end_ns : ready;
}

void StepAccumulator::add_idle(const Interval& idle, IdleReason otherwise, StepSummary& to) const {
  if (idle.start_ns >= idle.end_ns) return;
  const auto add = [&to](IdleReason reason, std::int64_t ns) {
    to.idle_ns[static_cast<std::size_t>(reason)] += ns;
  };
  const std::int64_t waited = data_waits_.covered_ns(idle);
  const std::int64_t paused = host_pauses_.covered_ns(idle);
  add(IdleReason::data_wait, waited);
  add(IdleReason::host_pause, paused);
  add(otherwise, idle.end_ns - idle.start_ns - waited - paused);
}

void StepAccumulator::add_collectives(const Interval& within, std::size_t step) {
  std::vector<CollectiveSummary>& to = steps_[step].collectives;
  auto row =
      std::ranges::lower_bound(cycle_.collectives, within.start_ns, {}, &CollectiveRow::start_ns);
  for (; row != cycle_.collectives.end() && row->start_ns < within.end_ns; ++row) {
    if (to.size() == StepSummary::kMostCollectives) return;
    const Edge begins{row->start_ns, static_cast<std::uint32_t>(step),
                      static_cast<std::uint32_t>(to.size()), false};
    edges_.push_back(begins);
    edges_.push_back({row->end_ns(), begins.step, begins.collective, true});
    to.push_back({hash_of(cycle_.names.text(row->group)), row->sequence, row->duration_ns,
                  row->duration_ns});
  }
}

// What is computed or copied from the beginning of a collective to its end hides it.
void StepAccumulator::pass_edges(const ActivitySegment& segment) {
  const bool covers = segment.has(ActivityClass::computation) || segment.has(ActivityClass::memory);
  for (; next_edge_ < edges_.size() && edges_[next_edge_].at_ns < segment.end_ns; ++next_edge_) {
    const Edge& edge = edges_[next_edge_];
    const bool within = covers && edge.at_ns > segment.start_ns;
    const std::int64_t covered_ns = covered_ns_ + (within ? edge.at_ns - segment.start_ns : 0);
    std::int64_t& exposed = steps_[edge.step].collectives[edge.collective].exposed_ns;
    exposed += edge.ends ? -covered_ns : covered_ns;
  }
  if (covers) covered_ns_ += segment.end_ns - segment.start_ns;
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

std::vector<StepSummary> summarize_steps(const CycleTrace& cycle, DeviceRows by_start) {
  StepAccumulator accumulator(cycle, by_start);
  if (by_start.empty()) return accumulator.take();
  const Interval extent = accumulator.extent();
  const auto far = std::numeric_limits<std::int64_t>::max();
  accumulator.add({-far, extent.start_ns, 0, &cycle.device[by_start.front()]});
  sweep_activity(cycle, by_start,
                 [&](const ActivitySegment& segment) { accumulator.add(segment); });
  accumulator.add({extent.end_ns, far, 0, nullptr});
  return accumulator.take();
}

// In their order, which is cheaper than to sort them once more.
void keep_selected(const SelectedCycle& selected, std::vector<std::uint32_t>& rows) {
  if (selected.rows().size() == rows.size()) return;
  std::vector<bool> chosen(selected.cycle().device.size());
  for (const std::uint32_t index : selected.rows()) chosen[index] = true;
  std::erase_if(rows, [&chosen](std::uint32_t index) { return !chosen[index]; });
}

void count_launches(const CycleTrace& cycle, DeviceRows rows, CycleSummary& found) {
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
  count_launches(cycle, selected.rows(), found);
  const SelectedCycle whole(cycle, StepSelection::all);
  found.activities = whole.rows().size();
  found.launched_activities = static_cast<std::uint64_t>(std::ranges::count_if(
      whole.rows(), [&](std::uint32_t index) { return cycle.device[index].launch != kNoRow; }));
  std::vector<std::uint32_t> by_start = rows_by_start(cycle, whole.rows());
  found.steps = summarize_steps(cycle, by_start);
  found.find_warm_up();
  keep_selected(selected, by_start);
  sweep_activity(cycle, by_start,
                 [&](const ActivitySegment& segment) { add_segment(cycle, segment, found); });
  return found;
}

}  // namespace trainwatch
