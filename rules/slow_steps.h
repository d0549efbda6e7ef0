// What step_spike remembers of the iterations of one mode from one writer: the slow ones since its
// alert opened, and the rhythm in which slow ones come round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rules/track_key.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/period_detector.h"

namespace trainwatch::step_spike {

// A slow iteration and what it was compared with. Seconds.
struct Spike {
  std::int64_t step = kNoStep;
  Time start{};
  Time end{};
  double seconds = 0;
  double usual = 0;
  double limit = 0;
  double wait = 0;
  double usual_wait = 0;
  double between = 0;  // neither step nor wait
  double usual_between = 0;

  double lost() const { return seconds - usual; }
  double ratio() const { return seconds / usual; }
};

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

// Slow steps that come round.
struct Rhythm {
  PeriodDetector detector;
  std::uint64_t hits = 0;
  double lost = 0;
  double elapsed = 0;  // since the first
  Spike latest;
  Time since{};
  std::uint64_t early = 0;  // slow steps among the first of the attempt
  bool nature = false;      // as the job has always been: no alert
  bool warned = false;

  double share() const { return elapsed > 0 ? std::min(lost / elapsed, 1.0) : 0; }
  double mean_lost() const { return hits > 0 ? lost / static_cast<double>(hits) : 0; }

  void state(StateIo& io) {
    io(detector);
    io(hits);
    io(lost);
    io(elapsed);
    io(latest);
    io(since);
    io(early);
    io(nature);
    io(warned);
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
  std::uint64_t seen = 0;  // iterations of the attempt
  double usual_wait = 0;   // means, with more weight for what is new
  double usual_between = 0;
  Episode episode;
  Rhythm rhythm;

  // If the writer gives no usable number, steps are counted.
  std::int64_t place(const Step& step) const {
    const bool usable = step.number >= 0 && step.number < PeriodDetector::kLargestStep;
    return usable ? step.number : static_cast<std::int64_t>(seen);
  }
  void add_normal(const Step& step) {
    constexpr double kWeight = 0.03;
    usual_wait += kWeight * (to_seconds(step.data_wait) - usual_wait);
    usual_between += kWeight * (between(step) - usual_between);
  }
  static double between(const Step& step) {
    // The wait may lie inside the step or before it.
    const Nanos outside = step.iteration() - step.duration;
    return to_seconds(std::max(outside - step.data_wait, Nanos{}));
  }
  void begin_attempt() { *this = Track(mode, origin); }

  void state(StateIo& io) {
    io(seen);
    io(usual_wait);
    io(usual_between);
    io(episode);
    io(rhythm);
  }
};

}  // namespace trainwatch::step_spike
