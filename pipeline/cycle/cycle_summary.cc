// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cycle/cycle_summary.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
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

bool waits_for(const LaunchRow& call, const DeviceActivity& copy) {
  return copy.kind == DeviceKind::memory_copy && call.end_ns() >= copy.end_ns();
}

// Calls that returned only when their copy was done: a pageable `.item()` waits for the device
// without a call that says so.
void add_blocking_copies(const CycleTrace& cycle, std::vector<Interval>& calls) {
  for (const DeviceActivity& row : cycle.device) {
    if (row.launch == kNoLaunch) continue;
    const LaunchRow& call = cycle.launches[row.launch];
    if (waits_for(call, row)) calls.push_back({call.start_ns, call.end_ns()});
  }
}

std::vector<Interval> blocking_calls_of(const CycleTrace& cycle) {
  std::vector<Interval> calls = cycle.blocking_calls;
  add_blocking_copies(cycle, calls);
  return calls;
}

// What has no launch was then launched before the recording began.
bool are_launches_known(const CycleTrace& cycle, DeviceRows by_start) {
  constexpr std::size_t kShare = 2;  // half of the rows
  const auto launched = std::ranges::count_if(
      by_start, [&](std::uint32_t index) { return cycle.device[index].launch != kNoLaunch; });
  return static_cast<std::size_t>(launched) * kShare >= by_start.size();
}

// How long after the end of its call an activity usually starts if the device has nothing else to
// do: the median over those that were launched while it was idle. They are counted by latency, of
// which there are fewer than of them.
std::int64_t launch_latency_ns(const CycleTrace& cycle, DeviceRows by_start) {
  std::vector<std::uint32_t> counts(kUsualKernelGapNs + 1);
  std::int64_t all = 0;
  std::int64_t busy_until_ns = std::numeric_limits<std::int64_t>::min();
  for (const std::uint32_t index : by_start) {
    const DeviceActivity& row = cycle.device[index];
    if (row.launch != kNoLaunch && cycle.launches[row.launch].end_ns() >= busy_until_ns) {
      const std::int64_t latency = row.start_ns - cycle.launches[row.launch].end_ns();
      ++counts[static_cast<std::size_t>(std::clamp<std::int64_t>(latency, 0, kUsualKernelGapNs))];
      ++all;
    }
    busy_until_ns = std::max(busy_until_ns, row.end_ns());
  }
  std::int64_t median = 0;
  for (std::int64_t passed = counts[0]; 2 * passed < all; ++median)
    passed += counts[static_cast<std::size_t>(median + 1)];
  return median;
}

// When the first activity of each graph began: of each launch of several.
std::unordered_map<std::uint32_t, std::int64_t> graph_starts(const CycleTrace& cycle,
                                                             DeviceRows by_start) {
  std::unordered_map<std::uint32_t, std::int64_t> starts;
  std::vector<bool> launched(cycle.launches.size());
  for (const DeviceActivity& row : cycle.device) {
    if (row.launch == kNoLaunch) continue;
    if (launched[row.launch]) starts.try_emplace(row.launch, 0);
    launched[row.launch] = true;
  }
  if (starts.empty()) return starts;
  for (auto row = by_start.rbegin(); row != by_start.rend(); ++row) {
    const auto of = starts.find(cycle.device[*row].launch);
    if (of != starts.end()) of->second = cycle.device[*row].start_ns;
  }
  return starts;
}

bool computes_or_copies(const DeviceActivity& row) {
  return row.activity_class == ActivityClass::computation ||
         row.activity_class == ActivityClass::memory;
}

bool has_work(const ActivitySegment& segment) {
  return segment.has(ActivityClass::computation) || segment.has(ActivityClass::memory);
}

}  // namespace

StepAccumulator::StepAccumulator(const CycleTrace& cycle, DeviceRows by_start)
    : cycle_(cycle),
      by_start_(by_start),
      launches_known_(are_launches_known(cycle, by_start)),
      launch_latency_ns_(launch_latency_ns(cycle, by_start)),
      data_waits_(cycle.data_waits),
      host_pauses_(cycle.host_pauses),
      blocking_calls_(blocking_calls_of(cycle)),
      graph_starts_(graph_starts(cycle, by_start)) {
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
  if (segment.has(ActivityClass::communication) && !has_work(segment)) {
    if (!exposed_.empty() && exposed_.back().within_layers == segment.within_layers) {
      exposed_.back().end_ns = segment.end_ns;
    } else {
      exposed_.push_back(segment);
    }
    return;
  }
  if (!exposed_.empty()) end_exposed(segment);
  add_uniform(segment, false);
}

// Nothing waited for a communication yet while the host was still launching: what begins beside it
// did not wait for it, and a host that waits for its end would have come no sooner without it.
void StepAccumulator::end_exposed(const ActivitySegment& next) {
  const std::int64_t start_ns = exposed_.front().start_ns;
  std::int64_t until = start_ns;
  if (next.has(ActivityClass::communication)) {
    const DeviceActivity* const work = work_from(next.start_ns);
    if (work != nullptr) until = ready_ns(*work, start_ns);
  } else if (const auto call = blocking_calls_.at(exposed_.back().end_ns - 1)) {
    until = call->start_ns;
  }
  for (const ActivitySegment& segment : exposed_) {
    ActivitySegment before = segment;
    ActivitySegment after = segment;
    before.end_ns = after.start_ns = std::clamp(until, segment.start_ns, segment.end_ns);
    if (before.start_ns < before.end_ns) add_uniform(before, true);
    if (after.start_ns < after.end_ns) add_uniform(after, false);
  }
  exposed_.clear();
}

// The first computation or copy that begins then, if any does.
const DeviceActivity* StepAccumulator::work_from(std::int64_t start_ns) const {
  auto row = std::ranges::lower_bound(by_start_, start_ns, {}, [this](std::uint32_t index) {
    return cycle_.device[index].start_ns;
  });
  for (; row != by_start_.end() && cycle_.device[*row].start_ns == start_ns; ++row) {
    if (computes_or_copies(cycle_.device[*row])) return &cycle_.device[*row];
  }
  return nullptr;
}

void StepAccumulator::add_uniform(const ActivitySegment& segment, bool unawaited) {
  pass_edges(segment, unawaited || has_work(segment));
  while (first_open_ < times_.size() && times_[first_open_].end_ns <= segment.start_ns)
    ++first_open_;
  for (std::size_t i = first_open_; i < times_.size(); ++i) {
    const Interval part{std::max(segment.start_ns, times_[i].start_ns),
                        std::min(segment.end_ns, times_[i].end_ns)};
    if (times_[i].start_ns >= segment.end_ns) return;
    if (part.start_ns < part.end_ns) add_part(segment, unawaited, part, steps_[i]);
  }
}

void StepAccumulator::add_part(const ActivitySegment& segment, bool unawaited, const Interval& part,
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
    if (unawaited) {
      to.unawaited_communication_ns += lasts;
    } else if (segment.within_layers) {
      to.layer_communication_ns += lasts;
    }
  } else if (segment.has(ActivityClass::other)) {
    to.exposed_other_ns += lasts;
  } else {
    add_gap(segment, part, to);
  }
}

// What ended the gap was ready to run from some time on; until then the device waited for the host,
// afterwards for something else, whatever the host did.
void StepAccumulator::add_gap(const ActivitySegment& gap, const Interval& part,
                              StepSummary& to) const {
  const Interval beginning{part.start_ns, part.start_ns + 1};
  const bool synchronised = blocking_calls_.covered_ns(beginning) > 0;
  const std::int64_t ready = gap.next == nullptr ? gap.end_ns : ready_ns(*gap.next, gap.start_ns);
  const std::int64_t until = std::clamp(ready, part.start_ns, part.end_ns);
  add_idle({part.start_ns, until}, synchronised ? IdleReason::synchronization : IdleReason::launch,
           to);
  const Interval rest{until, part.end_ns};
  if (!launches_known_) return add_idle(rest, IdleReason::queued, to);
  const std::int64_t lasts = rest.end_ns - rest.start_ns;
  // A short gap in which a pause begins is part of it.
  const std::int64_t paused = lasts < kUsualKernelGapNs ? host_pauses_.covered_ns(rest) : 0;
  to.idle_ns[static_cast<std::size_t>(IdleReason::host_pause)] += paused;
  to.idle_ns[static_cast<std::size_t>(IdleReason::queued)] += lasts - paused;
}

// When `next` was ready to run, if the device has been idle since `since_ns`: at the end of its
// call plus the usual latency. A slightly longer latency does not count as queueing. A call that
// was already in progress and returned soon afterwards counts as made in time: the host caused no
// delay. A call that waits for its own copy launched it when it began.
std::int64_t StepAccumulator::ready_ns(const DeviceActivity& next, std::int64_t since_ns) const {
  if (next.launch == kNoLaunch) return since_ns;
  const auto graph = graph_starts_.find(next.launch);
  if (graph != graph_starts_.end() && next.start_ns > graph->second) return since_ns;
  const LaunchRow& call = cycle_.launches[next.launch];
  const std::int64_t launched = waits_for(call, next) ? call.start_ns : call.end_ns();
  const std::int64_t ready = launched + launch_latency_ns_;
  const bool began = call.start_ns < since_ns;
  if (ready <= since_ns || (began && ready - since_ns < kUsualKernelGapNs)) return since_ns;
  return next.start_ns - ready < kUsualKernelGapNs ? next.start_ns : ready;
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

// What is computed or copied from the beginning of a collective to its end hides it; and nothing
// waits for it before the host has launched that.
void StepAccumulator::pass_edges(const ActivitySegment& segment, bool hidden) {
  for (; next_edge_ < edges_.size() && edges_[next_edge_].at_ns < segment.end_ns; ++next_edge_) {
    const Edge& edge = edges_[next_edge_];
    const bool within = hidden && edge.at_ns > segment.start_ns;
    const std::int64_t covered_ns = covered_ns_ + (within ? edge.at_ns - segment.start_ns : 0);
    std::int64_t& exposed = steps_[edge.step].collectives[edge.collective].exposed_ns;
    exposed += edge.ends ? -covered_ns : covered_ns;
  }
  if (hidden) covered_ns_ += segment.end_ns - segment.start_ns;
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
  accumulator.add({-far, extent.start_ns, 0, false, &cycle.device[by_start.front()]});
  sweep_activity(cycle, by_start,
                 [&](const ActivitySegment& segment) { accumulator.add(segment); });
  accumulator.add({extent.end_ns, far, 0, false, nullptr});
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
  LaunchedActivities(cycle, rows).for_each([&](const LaunchedActivity& activity) {
    const std::int64_t call = cycle.launches[activity.launch].duration_ns;
    ++found.launches;
    if (activity.device_ns < call) ++found.short_launches;
    found.launch_calls_ns += call;
    found.launched_ns += activity.device_ns;
  });
}

}  // namespace

CycleSummary summarize(const SelectedCycle& selected) {
  const CycleTrace& cycle = selected.cycle();
  CycleSummary found;
  found.subject = cycle.subject;
  found.number = cycle.number;
  found.world_size = cycle.world_size;
  count_launches(cycle, selected.rows(), found);
  std::vector<std::uint32_t> by_start =
      rows_by_start(cycle, SelectedCycle(cycle, StepSelection::all).take_rows());
  found.activities = by_start.size();
  found.launched_activities = static_cast<std::uint64_t>(std::ranges::count_if(
      by_start, [&](std::uint32_t index) { return cycle.device[index].launch != kNoLaunch; }));
  found.steps = summarize_steps(cycle, by_start);
  found.find_warm_up();
  keep_selected(selected, by_start);
  sweep_activity(cycle, by_start,
                 [&](const ActivitySegment& segment) { add_segment(cycle, segment, found); });
  return found;
}

}  // namespace trainwatch
