// SPDX-License-Identifier: Apache-2.0
// Slow steps that come round: how often, and what they cost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "rules/spike.h"
#include "trainwatch/ring_queue.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/period_detector.h"

namespace trainwatch::step_spike {

struct Rhythm {
  static constexpr double kStandsOut = 2;  // times the mean loss: not part of it

  PeriodDetector detector;
  std::uint64_t hits = 0;
  double lost = 0;
  double elapsed = 0;  // since the first
  Spike latest;
  Time since{};
  bool warned = false;
  bool from_the_start = false;  // of the attempt

  // Counted from the end of the first slow step, so that there are as many periods as slow steps.
  double share() const {
    const double first = mean_lost();
    const double since_first = elapsed - latest.usual - first;
    return since_first > 0 ? std::min((lost - first) / since_first, 1.0) : 0;
  }
  double mean_lost() const { return hits > 0 ? lost / static_cast<double>(hits) : 0; }

  // A slow step like those before it, at a place where one is due.
  void add(const Spike& spike) {
    latest = spike;
    lost += hits > 0 ? std::min(spike.lost(), kStandsOut * mean_lost()) : spike.lost();
    ++hits;
    elapsed = to_seconds(spike.end - since);
  }

  // The slow steps on the grid so far, this one not counted yet. It may be far slower than they.
  // `first`: the place of the first step of the attempt.
  void begin(const Spike& spike, std::int64_t place, std::int64_t first) {
    const std::int64_t period = detector.period();
    from_the_start = detector.first() - first <= 2 * period;
    hits = static_cast<std::uint64_t>((place - detector.first()) / period);
    const auto before = static_cast<double>(hits);
    const double each = std::min(started_.mean_lost(detector, place), spike.lost());
    lost = before * each;
    const double estimate = before * static_cast<double>(period) * spike.usual + lost;
    warned = false;
    since = started_.of(detector.first(), spike.end - from_seconds(estimate + spike.seconds));
  }

  // A slow step, on a grid or not.
  void note(const Spike& spike, std::int64_t place) {
    started_.add(place, spike.start, spike.lost());
  }

  void state(StateIo& io) {
    io(detector);
    io(hits);
    io(lost);
    io(elapsed);
    io(latest);
    io(since);
    io(warned);
    io(from_the_start);
    io(started_);
  }

 private:
  // When the last slow steps began.
  struct Starts {
    static constexpr std::size_t kKept = 32;
    struct Start {
      std::int64_t place = kNoStep;
      Time at{};
      double lost = 0;
    };
    RingQueue<Start> kept;

    void add(std::int64_t place, Time at, double lost) {
      if (kept.size() == kKept) kept.pop_front();
      kept.push_back({place, at, lost}, kKept);
    }
    Time of(std::int64_t place, Time otherwise) const {
      const auto found = std::find_if(kept.begin(), kept.end(),
                                      [place](const Start& start) { return start.place == place; });
      return found == kept.end() ? otherwise : found->at;
    }
    // Of those on the grid before this place.
    double mean_lost(const PeriodDetector& grid, std::int64_t place) const {
      double sum = 0;
      double count = 0;
      for (const Start& start : kept) {
        if (start.place >= place || !grid.is_due(start.place)) continue;
        sum += start.lost;
        ++count;
      }
      return count > 0 ? sum / count : std::numeric_limits<double>::infinity();
    }
    void state(StateIo& io) {
      io(kept);
      if (kept.size() > kKept) io.fail();
    }
  };

  Starts started_;
};

}  // namespace trainwatch::step_spike
