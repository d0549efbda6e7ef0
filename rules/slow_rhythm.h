// SPDX-License-Identifier: Apache-2.0
// Slow steps that come round: how often, what they cost, and whether the job has always been so.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "rules/spike.h"
#include "trainwatch/ring_queue.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/median.h"
#include "trainwatch/stats/period_detector.h"

namespace trainwatch::step_spike {

// The first iterations of an attempt, for what the job has always done.
class Beginning {
 public:
  void add(std::int64_t place, double seconds) {
    if (first_ == kNoStep) first_ = place;
    if (place < first_ || place - first_ >= kLength) return;
    seconds_[static_cast<std::size_t>(place - first_)] = static_cast<float>(seconds);
  }

  // How many times as long as the others nearly all on the grid took; 0: too few are known.
  double times(std::int64_t on_grid, std::int64_t period) const {
    std::vector<double> on;
    std::vector<double> off;
    const std::int64_t end = kWarm + std::clamp(4 * period, kShort, kLength - kWarm);
    for (std::int64_t i = kWarm; i < end; ++i) {
      const auto seconds = static_cast<double>(seconds_[static_cast<std::size_t>(i)]);
      if (seconds <= 0) continue;
      ((on_grid - first_ - i) % period == 0 ? on : off).push_back(seconds);
    }
    if (on.size() < kFewest || off.size() < kFewest) return 0;
    const auto few = on.begin() + static_cast<std::ptrdiff_t>(on.size() / 4);
    std::nth_element(on.begin(), few, on.end());
    return *few / median_of(std::move(off));
  }

  void state(StateIo& io) {
    io(first_);
    io(seconds_);
  }

 private:
  static constexpr std::int64_t kLength = 128;  // iterations
  static constexpr std::int64_t kWarm = 10;     // which may compile
  static constexpr std::int64_t kShort = 40;
  static constexpr std::size_t kFewest = 2;

  std::int64_t first_ = kNoStep;
  std::array<float, kLength> seconds_{};  // 0: no such iteration
};

struct Rhythm {
  static constexpr double kStandsOut = 2;  // times the mean loss: not part of it

  PeriodDetector detector;
  Beginning beginning;
  std::uint64_t hits = 0;
  double lost = 0;
  double elapsed = 0;  // since the first
  Spike latest;
  Time since{};
  bool nature = false;  // as the job has always been: no alert
  bool warned = false;

  double share() const { return elapsed > 0 ? std::min(lost / elapsed, 1.0) : 0; }
  double mean_lost() const { return hits > 0 ? lost / static_cast<double>(hits) : 0; }
  double mean_ratio() const { return 1 + mean_lost() / latest.usual; }

  // A slow step like those before it, at a place where one is due.
  void add(const Spike& spike) {
    latest = spike;
    lost += hits > 0 ? std::min(spike.lost(), kStandsOut * mean_lost()) : spike.lost();
    ++hits;
  }

  // The slow steps on the grid so far, this one not counted yet. It may be far slower than they.
  void begin(const Spike& spike, std::int64_t place) {
    const std::int64_t period = detector.period();
    hits = static_cast<std::uint64_t>((place - detector.first()) / period);
    const auto before = static_cast<double>(hits);
    const double each = std::min(started_.mean_lost(detector, place), spike.lost());
    lost = before * each;
    elapsed = before * (static_cast<double>(period) * spike.usual) + lost;
    warned = false;
    since = started_.of(detector.first(), spike.end - from_seconds(elapsed + spike.seconds));
    nature = may_be_nature(period) && beginning.times(place, period) - 1 >= each / spike.usual / 2;
  }

  // A slow step, on a grid or not.
  void note(const Spike& spike, std::int64_t place) {
    started_.add(place, spike.start, spike.lost());
  }

  void state(StateIo& io) {
    io(detector);
    io(beginning);
    io(hits);
    io(lost);
    io(elapsed);
    io(latest);
    io(since);
    io(nature);
    io(warned);
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

  // Gradients are accumulated over a few batches, or over a power of two of them.
  static bool may_be_nature(std::int64_t period) {
    constexpr std::int64_t kFew = 8;
    constexpr std::int64_t kMany = 64;
    return period <= kFew || (period <= kMany && (period & (period - 1)) == 0);
  }

  Starts started_;
};

}  // namespace trainwatch::step_spike
