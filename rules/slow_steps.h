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
#include "rules/spike.h"
#include "rules/track_key.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch::step_spike {

// Slow steps that have no rhythm, close to each other.
struct Episode {
  static constexpr std::size_t kStepsKept = 16;

  std::uint64_t spikes = 0;
  std::int64_t first_step = kNoStep;
  Time first_start{};
  double lost = 0;
  Spike worst;
  Time latest_end{};
  std::uint64_t latest_seen = 0;
  std::vector<std::int64_t> recent;  // step numbers of the last spikes

  void add(const Spike& spike, std::uint64_t seen) {
    if (spikes == 0) {
      first_step = spike.step;
      first_start = spike.start;
    }
    ++spikes;
    lost += spike.lost();
    latest_end = spike.end;
    latest_seen = seen;
    if (spike.lost() > worst.lost()) worst = spike;
    if (spike.step == kNoStep) return;
    if (recent.size() >= kStepsKept) recent.erase(recent.begin());
    recent.push_back(spike.step);
  }
  // Of the time since the first one began.
  double lost_share(Time now) const {
    return std::min(lost / std::max(to_seconds(now - first_start), lost), 1.0);
  }

  void state(StateIo& io) {
    io(spikes);
    io(first_step);
    io(first_start);
    io(lost);
    io(worst);
    io(latest_end);
    io(latest_seen);
    io(recent);
    if (recent.size() > kStepsKept) io.fail();
  }
};

struct Track {
  Track(Mode of_mode, Origin of_origin)
      : mode(of_mode),
        origin(of_origin),
        key(track_key(mode, origin)),
        periodic_key(key + "/periodic") {}

  Mode mode;
  Origin origin;
  std::string key;
  std::string periodic_key;
  std::uint64_t seen = 0;   // iterations of the attempt
  std::int64_t latest = 0;  // place
  std::int64_t shift = 0;   // of places against numbers
  double usual_wait = 0;    // means, with more weight for what is new
  double usual_between = 0;
  double usual_outside = 0;
  Episode episode;
  Rhythm rhythm;
  ScheduledPauses scheduled;
  // Since the step before:
  double checkpoint = 0;  // seconds in spans that say so
  bool loader_started = false;
  bool marked = false;  // a log says that it evaluated, or wrote a checkpoint

  // If the writer gives no usable number, steps are counted.
  std::int64_t place(const Step& step) const {
    const bool usable = step.number >= 0 && step.number < PeriodDetector::kLargestStep;
    return usable ? step.number + shift : static_cast<std::int64_t>(seen);
  }
  // Places go on where the numbers of an epoch begin anew.
  void begin_epoch(const Step& step) { shift = latest + 1 - step.number; }
  void add_normal(const Step& step) {
    constexpr double kWeight = 0.03;
    usual_wait += kWeight * (to_seconds(step.data_wait) - usual_wait);
    usual_between += kWeight * (to_seconds(step.between()) - usual_between);
    usual_outside += kWeight * (to_seconds(step.outside_phases()) - usual_outside);
  }
  void begin_attempt(Time at) {
    const ScheduledPauses before = scheduled;  // knows how steps are numbered
    *this = Track(mode, origin);
    scheduled = before;
    scheduled.begin_attempt(at);
  }

  void state(StateIo& io) {
    io(seen);
    io(latest);
    io(shift);
    io(usual_wait);
    io(usual_between);
    io(usual_outside);
    io(episode);
    io(rhythm);
    io(scheduled);
    io(checkpoint);
    io(loader_started);
    io(marked);
  }
};

}  // namespace trainwatch::step_spike
