// What step_spike remembers of the steps of one mode from one writer: their baseline, and the slow
// steps since its alert opened.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/median.h"
#include "trainwatch/stats/period_detector.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch::step_spike {

struct Params {
  std::int64_t window = 100;
  double sigma = 6;
  double ratio = 1.5;
  std::int64_t warmup = 10;
  double warning_seconds = 1;
  double warning_percent = 5;
  std::int64_t recovery_steps = 50;
};

// A slow step and what it was compared with.
struct Spike {
  std::int64_t step = kNoStep;
  Time start{};
  Time end{};
  double seconds = 0;
  double median = 0;
  double mad = 0;
  double threshold = 0;
  double wait = 0;
  double usual_wait = 0;

  double lost() const { return seconds - median; }
  double ratio() const { return seconds / median; }
};

struct Loss {
  std::uint64_t at = 0;  // StepBaseline::seen()
  std::int64_t nanos = 0;
};

struct Episode {
  static constexpr std::size_t kStepsKept = 16;

  std::uint64_t spikes = 0;
  std::int64_t first_step = kNoStep;
  double lost = 0;
  Spike worst;
  std::vector<std::int64_t> recent;  // step numbers of the last spikes

  void add(const Spike& spike) {
    if (spikes == 0) first_step = spike.step;
    ++spikes;
    lost += spike.lost();
    if (spike.lost() > worst.lost()) worst = spike;
    if (spike.step == kNoStep) return;
    if (recent.size() >= kStepsKept) recent.erase(recent.begin());
    recent.push_back(spike.step);
  }

  void state(StateIo& io) {
    io(spikes);
    io(first_step);
    io(lost);
    io(worst);
    io(recent);
  }
};

class StepBaseline {
 public:
  StepBaseline(const Params& params, Mode mode, Origin origin)
      : params_(params),
        mode_(mode),
        origin_(origin),
        key_(std::string(to_string(mode)) + (origin == Origin::profiler ? "/profiler" : "")),
        durations_(static_cast<std::size_t>(params.window)),
        waits_(static_cast<std::size_t>(params.window)) {}

  Mode mode() const { return mode_; }
  Origin origin() const { return origin_; }
  const std::string& key() const { return key_; }
  const Episode& episode() const { return episode_; }
  std::int64_t period() const { return rhythm_.period(); }
  bool warm() const {
    return durations_.size() >= static_cast<std::size_t>(std::min(params_.warmup, params_.window));
  }

  bool is_slow(double seconds) const {
    if (!warm()) return false;
    const double median = durations_.median();
    if (median <= 0 || seconds < params_.ratio * median) return false;  // nearly every step
    return seconds > robust_limit(median);
  }

  // Adds a slow step, which begins or continues an episode.
  Spike add_slow(const Step& step, bool begins) {
    if (begins) {
      episode_ = Episode{};
      losses_.clear();
    }
    const double median = durations_.median();
    const Spike spike{.step = step.number,
                      .start = step.start,
                      .end = step.end(),
                      .seconds = to_seconds(step.duration),
                      .median = median,
                      .mad = durations_.mad(),
                      .threshold = std::max(robust_limit(median), params_.ratio * median),
                      .wait = to_seconds(step.data_wait),
                      .usual_wait = waits_.median()};
    count(step);
    rhythm_.spike(place(step));
    while (!losses_.empty() && losses_.front().at + window() <= seen_) losses_.pop_front();
    losses_.push_back({seen_, std::llround(spike.lost() * 1e9)});
    episode_.add(spike);
    return spike;
  }

  // Adds any other step.
  void add_normal(const Step& step) {
    count(step);
    rhythm_.quiet(place(step));
  }

  // Consecutive normal steps that end the episode.
  std::int64_t recovery_steps() const {
    return std::max(params_.recovery_steps, 3 * rhythm_.period());
  }

  // Time lost to slow steps of this episode within the last `window` steps.
  double lost_in_window() const {
    std::int64_t nanos = 0;
    for (const Loss& loss : losses_) {
      if (loss.at + window() > seen_) nanos += loss.nanos;
    }
    return static_cast<double>(nanos) / 1e9;
  }

  void state(StateIo& io) {
    io(seen_);
    io(durations_);
    io(waits_);
    io(rhythm_);
    io(losses_);
    io(episode_);
    if (losses_.size() > window() || episode_.recent.size() > Episode::kStepsKept) io.fail();
  }

 private:
  std::uint64_t window() const { return static_cast<std::uint64_t>(params_.window); }
  double robust_limit(double median) const {
    return median + params_.sigma * kSigmaPerMad * durations_.mad();
  }
  void count(const Step& step) {
    ++seen_;
    durations_.push(to_seconds(step.duration));
    waits_.push(to_seconds(step.data_wait));
  }
  // If the writer gives no usable number, steps are counted.
  std::int64_t place(const Step& step) const {
    const bool usable = step.number >= 0 && step.number < PeriodDetector::kLargestStep;
    return usable ? step.number : static_cast<std::int64_t>(seen_);
  }

  Params params_;
  Mode mode_;
  Origin origin_;
  std::string key_;
  std::uint64_t seen_ = 0;  // steps
  RollingMedianMad durations_;
  SortedWindow waits_;
  PeriodDetector rhythm_;
  std::deque<Loss> losses_;  // of the episode, in the last `window` steps
  Episode episode_;
};

}  // namespace trainwatch::step_spike
