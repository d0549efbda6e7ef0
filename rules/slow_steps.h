// SPDX-License-Identifier: Apache-2.0
// What step_spike remembers of the iterations of one mode from one writer: the slow ones since its
// alert opened, and the rhythm in which slow ones come round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rules/scheduled_pause.h"
#include "rules/slow_rhythm.h"
#include "rules/slow_share.h"
#include "rules/spike.h"
#include "rules/track_key.h"
#include "trainwatch/event.h"
#include "trainwatch/ring_queue.h"
#include "trainwatch/state_io.h"

namespace trainwatch::step_spike {

// Slow steps that have no rhythm, close to each other.
struct Episode {
  static constexpr std::size_t kStepsKept = 16;
  static constexpr std::uint64_t kTogether = 100;  // iterations; slow ones that near are one

  std::uint64_t spikes = 0;
  std::int64_t first_step = kNoStep;
  Time first_start{};
  double lost = 0;
  Spike worst;
  Time latest_end{};
  std::uint64_t latest_seen = 0;
  std::uint64_t in_a_row = 0;  // up to the latest
  std::uint64_t together = kTogether;
  bool expected = false;             // pauses on purpose that cost too much
  std::vector<std::int64_t> recent;  // step numbers of the last spikes

  void add(const Spike& spike, std::uint64_t seen) {
    if (spikes == 0) {
      first_step = spike.step;
      first_start = spike.start;
    }
    in_a_row = spikes > 0 && seen == latest_seen + 1 ? in_a_row + 1 : 1;
    ++spikes;
    lost += spike.lost();
    latest_end = spike.end;
    latest_seen = seen;
    if (spike.lost() > worst.lost()) worst = spike;
    if (spike.step == kNoStep) return;
    if (recent.size() >= kStepsKept) recent.erase(recent.begin());
    recent.push_back(spike.step);
  }
  // An expected pause; the next one belongs to the same episode.
  void comes_again_in(std::int64_t distance) {
    constexpr std::int64_t kMost = 1'000'000;
    const auto late = static_cast<std::uint64_t>(std::clamp<std::int64_t>(distance, 0, kMost));
    expected = true;
    together = std::max(together, late * 5 / 2);
  }
  // Share of the time since the first one began, but of kWhile steps at least.
  double lost_share(Time now) const {
    constexpr double kWhile = 100;
    const double elapsed = std::max(to_seconds(now - first_start), kWhile * worst.usual);
    return std::min(lost / std::max(elapsed, lost), 1.0);
  }

  void state(StateIo& io) {
    io(spikes);
    io(first_step);
    io(first_start);
    io(lost);
    io(worst);
    io(latest_end);
    io(latest_seen);
    io(in_a_row);
    io(together);
    io(expected);
    io(recent);
    if (recent.size() > kStepsKept) io.fail();
  }
};

// A slow iteration that is not judged yet: another rank may have paused meanwhile, or the wait for
// data is in another file.
struct Candidate {
  Step step;
  std::uint64_t seen = 0;
  std::int64_t place = 0;
  std::int64_t done = 0;
  bool round = false;
  bool loader_started = false;
  bool marked = false;
  bool complete = false;  // all of its waits are known
  double checkpoint = 0;
  double gap = 0;           // seconds before it that the log's own timer leaves out
  Time next_end = kNoTime;  // of the iteration after it

  void state(StateIo& io) {
    io(step);
    io(seen);
    io(place);
    io(done);
    io(round);
    io(loader_started);
    io(marked);
    io(complete);
    io(checkpoint);
    io(gap);
    io(next_end);
  }
};

struct Track {
  static constexpr std::size_t kMostHeld = 16;

  Track(Mode of_mode, Origin of_origin)
      : mode(of_mode),
        origin(of_origin),
        key(track_key(mode, origin)),
        periodic_key(key + "/periodic"),
        frequent_key(key + "/frequent") {}

  Mode mode;
  Origin origin;
  std::string key;
  std::string periodic_key;
  std::string frequent_key;
  std::uint64_t seen = 0;   // iterations of the attempt
  std::int64_t latest = 0;  // place
  Time loader_at{};         // when a loader was last started
  Time last_end{};          // of the latest
  std::uint32_t world = 0;  // ranks of the job; 0: not known
  std::int64_t shift = 0;   // of places against numbers
  double usual_wait = 0;    // means, with more weight for what is new
  double usual_between = 0;
  double usual_outside = 0;
  double usual_optimizer = 0;
  std::int64_t since_epoch = 100;  // steps, as far as it matters
  std::uint64_t long_pauses = 0;   // of a log, that nothing explains
  Episode episode;
  Rhythm rhythm;
  SlowShare frequent;  // of a log
  ScheduledPauses scheduled;
  RingQueue<Candidate> held;     // the oldest first
  bool waits_come_late = false;  // from another file
  bool has_fractions = false;    // its times are not whole seconds
  // Since the step before:
  double checkpoint = 0;  // seconds in spans that say so
  bool saved = false;     // a log says that it wrote a checkpoint, and not how long that took
  bool marked = false;    // a log says that it evaluated, or wrote a checkpoint

  // Some writers report the start of a loader before the end of the previous step.
  bool loader_started_in(const Step& step) const {
    return loader_at >= step.begin && loader_at <= step.end();
  }
  // If the writer gives no usable number, steps are counted.
  std::int64_t place(const Step& step) const {
    const bool usable = step.number >= 0 && step.number < PeriodDetector::kLargestStep;
    return usable ? step.number + shift : static_cast<std::int64_t>(seen);
  }
  // Places go on where the numbers of an epoch begin anew.
  void begin_epoch(const Step& step) {
    shift = latest + 1 - step.number;
    since_epoch = 0;
  }
  void add_normal(const Step& step) {
    constexpr double kWeight = 0.03;
    usual_wait += kWeight * (to_seconds(step.data_wait) - usual_wait);
    usual_between += kWeight * (to_seconds(step.between()) - usual_between);
    usual_outside += kWeight * (to_seconds(step.outside_phases()) - usual_outside);
    usual_optimizer += kWeight * (to_seconds(step.optimizer) - usual_optimizer);
  }
  void begin_attempt(Time at) {
    const ScheduledPauses before = scheduled;  // knows how steps are numbered
    const bool late = waits_come_late;
    *this = Track(mode, origin);
    scheduled = before;
    waits_come_late = late;
    scheduled.begin_attempt(at);
  }

  void state(StateIo& io) {
    io(seen);
    io(latest);
    io(loader_at);
    io(last_end);
    io(world);
    io(shift);
    io(usual_wait);
    io(usual_between);
    io(usual_outside);
    io(usual_optimizer);
    io(since_epoch);
    io(long_pauses);
    io(episode);
    io(rhythm);
    io(frequent);
    io(scheduled);
    io(held);
    io(waits_come_late);
    io(has_fractions);
    if (held.size() > kMostHeld) io.fail();
    io(checkpoint);
    io(saved);
    io(marked);
  }
};

}  // namespace trainwatch::step_spike
