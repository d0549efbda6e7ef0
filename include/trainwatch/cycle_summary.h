// SPDX-License-Identifier: Apache-2.0
// The summary of one profiler cycle of one rank: the few numbers that rules and metrics read,
// computed once from its CycleTrace (pipeline/cycle/cycle_summary.h). All times are nanoseconds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/subject.h"

namespace trainwatch {

// Why an activity on a stream began later than the previous one ended, as in HTA.
//
//   host_wait    it had not been launched when the previous one ended
//   kernel_wait  it had been launched, and began within 30 us: the usual gap between two kernels
//   other        it had been launched, and began later: it waited for another stream or an event
enum class IdleCause : std::uint8_t { host_wait, kernel_wait, other, count_ };
inline constexpr std::size_t kIdleCauses = static_cast<std::size_t>(IdleCause::count_);

// What the host did while no stream was active.
//
//   data_wait        the training thread waited for its next batch
//   host_pause       the host did nothing visible to the profiler: garbage collection, Python code,
//                    a lock, another process
//   synchronization  the gap began while a call waited for the device, or for a copy to end: the
//                    next launch could only come after it
//   launch           it was on its way to the next launch, to the end of that call plus the usual
//                    latency
//   queued           the next activity had been launched already; it waited for another stream, an
//                    event, or the usual gap between two kernels
enum class IdleReason : std::uint8_t {
  data_wait,
  host_pause,
  synchronization,
  launch,
  queued,
  count_
};
inline constexpr std::size_t kIdleReasons = static_cast<std::size_t>(IdleReason::count_);

// One rank's part in one collective.
struct CollectiveSummary {
  std::uint64_t group = 0;  // hash of the process group's name
  std::int64_t sequence = 0;
  std::int64_t duration_ns = 0;  // from when this rank began to take part
  std::int64_t exposed_ns = 0;   // of it, with nothing computed or copied, but something waiting
};

// One step of the host, from its start to its end, whatever step the activities belong to. Its
// duration is computation + exposed_memory + exposed_communication + exposed_other + the sum of
// idle. All of these are 0 in a cycle without device activity, as nothing is known of a device.
struct StepSummary {
  static constexpr std::size_t kMostCollectives = 128;

  std::int64_t number = kNoStep;  // kNoStep: the whole cycle, which has no steps
  std::int64_t start_ns = 0;      // since the epoch
  std::int64_t duration_ns = 0;
  std::int64_t data_wait_ns = 0;                // of the host
  std::int64_t computation_ns = 0;              // with computation on some stream
  std::int64_t communication_ns = 0;            // with communication
  std::int64_t overlapped_ns = 0;               // with both
  std::int64_t exposed_memory_ns = 0;           // copies and fills, nothing computed
  std::int64_t exposed_communication_ns = 0;    // communication, nothing computed or copied
  std::int64_t exposed_other_ns = 0;            // only other activities
  std::int64_t unawaited_communication_ns = 0;  // of it, while the host was still launching
  std::int64_t layer_communication_ns = 0;      // of the rest, all within layers (DeviceActivity)
  std::array<std::int64_t, kIdleReasons> idle_ns{};
  std::vector<CollectiveSummary> collectives{};  // at most kMostCollectives

  std::int64_t end_ns() const { return start_ns + duration_ns; }
  // The exposed communication for which something waited.
  std::int64_t waited_communication_ns() const {
    return exposed_communication_ns - unawaited_communication_ns;
  }
  std::int64_t idle(IdleReason reason) const { return idle_ns[static_cast<std::size_t>(reason)]; }
  std::int64_t busy_ns() const {
    return computation_ns + exposed_memory_ns + exposed_communication_ns + exposed_other_ns;
  }
  std::int64_t idle_sum_ns() const {
    std::int64_t sum = 0;
    for (const std::int64_t idle : idle_ns) sum += idle;
    return sum;
  }

  // The share of its time in which the device was idle and had nothing queued.
  double lost_share() const {
    const auto lost = static_cast<double>(idle_sum_ns() - idle(IdleReason::queued));
    return duration_ns > 0 ? lost / static_cast<double>(duration_ns) : 0;
  }

  void state(StateIo& io) {
    io(number);
    io(start_ns);
    io(duration_ns);
    io(data_wait_ns);
    io(computation_ns);
    io(communication_ns);
    io(overlapped_ns);
    io(exposed_memory_ns);
    io(exposed_communication_ns);
    io(exposed_other_ns);
    io(unawaited_communication_ns);
    io(layer_communication_ns);
    io(idle_ns);
    io(collectives);
    if (collectives.size() > kMostCollectives) io.fail();
  }
};

struct CycleSummary {
  SubjectId subject = SubjectId::none;  // job, node, rank
  std::int64_t number = 0;              // of this rank's cycles
  std::int64_t world_size = 0;          // ranks of the job; 0: not known

  std::int64_t window_ns = 0;  // from the first start of an activity to the last end
  std::int64_t busy_ns = 0;    // with activity on some stream
  // Without activity on any stream, by why the activity that ended the gap had not begun; with
  // busy_ns they add up to window_ns.
  std::array<std::int64_t, kIdleCauses> idle_ns{};

  // With activity of the class on some stream; they may overlap.
  std::int64_t computation_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t memory_ns = 0;
  std::int64_t overlapped_ns = 0;  // communication while something is computed

  std::uint64_t activities = 0;           // on streams, in the whole file
  std::uint64_t launched_activities = 0;  // of these, with a known launch
  std::uint64_t launches = 0;             // that launched any
  std::uint64_t short_launches = 0;       // took longer than everything they launched
  std::int64_t launch_calls_ns = 0;       // sum over the launches
  std::int64_t launched_ns = 0;           // sum over what they launched

  std::vector<StepSummary> steps;  // by start
  std::size_t warm_up_steps = 0;   // of these, the first ones: see find_warm_up()

  // The steps at the beginning that take far longer than a usual one, or leave the device far more
  // idle: they compile what they run, or fill queues that the start of the recording has emptied. A
  // record may be short, and half of it warm-up: the usual length is the lower quartile. O(n).
  void find_warm_up() {
    constexpr double kLonger = 1.5;
    constexpr double kMoreIdle = 0.1;
    warm_up_steps = 0;
    if (steps.size() < 2) return;
    std::vector<double> lengths;
    std::vector<double> shares;
    for (const StepSummary& step : steps) {
      lengths.push_back(static_cast<double>(step.duration_ns));
      shares.push_back(step.lost_share());
    }
    const auto quartile = lengths.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 4);
    const auto middle = shares.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
    std::ranges::nth_element(lengths, quartile);
    std::ranges::nth_element(shares, middle);
    const auto differs = [&](const StepSummary& step) {
      return static_cast<double>(step.duration_ns) > kLonger * *quartile ||
             step.lost_share() > *middle + kMoreIdle;
    };
    while (warm_up_steps + 1 < steps.size() && differs(steps[warm_up_steps])) ++warm_up_steps;
  }
  // The steps after the warm-up.
  std::span<const StepSummary> regular_steps() const {
    return std::span(steps).subspan(std::min(warm_up_steps, steps.size()));
  }

  // When the last step ended, since the epoch; 0 if there was none.
  std::int64_t end_ns() const { return steps.empty() ? 0 : steps.back().end_ns(); }
  std::int64_t step_ns() const { return sum(&StepSummary::duration_ns); }
  std::int64_t data_wait_ns() const { return sum(&StepSummary::data_wait_ns); }
  std::int64_t idle(IdleReason reason) const {
    std::int64_t total = 0;
    for (const StepSummary& step : steps) total += step.idle(reason);
    return total;
  }
  std::int64_t sum(std::int64_t StepSummary::*part) const {
    std::int64_t total = 0;
    for (const StepSummary& step : steps) total += step.*part;
    return total;
  }
};

}  // namespace trainwatch
