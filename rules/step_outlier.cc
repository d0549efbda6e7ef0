// SPDX-License-Identifier: Apache-2.0
// Many steps take far longer than the mean; SageMaker's StepOutlier, see
// docs/rules/step_outlier.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <string>

#include "rules/format.h"
#include "rules/track_key.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/compensated_sum.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch::step_outlier {
namespace {

constexpr std::size_t kFewest = 100;  // steps; SageMaker judges with more than these

struct Params {
  double stddev = 3;
  std::int64_t n_outliers = 10;
  std::int64_t window = 5000;
  std::int64_t recovery_steps = 20;
};

struct Outlier {
  std::int64_t step = kNoStep;
  Time start{};
  Time end{};
  double seconds = 0;
};

// The steps of one mode from one writer.
struct Lane {
  Lane(std::size_t window, Mode of_mode, Origin of_origin)
      : mode(of_mode), origin(of_origin), key(track_key(mode, origin)), durations(window) {}

  Mode mode;
  Origin origin;
  std::string key;
  SortedWindow durations;  // seconds
  CompensatedSum sum;
  CompensatedSum squares;
  Outlier worst;  // since the alert opened

  void add(double seconds) {
    if (const auto leaving = durations.leaving()) {
      sum.add(-*leaving);
      squares.add(-*leaving * *leaving);
    }
    durations.push(seconds);
    sum.add(seconds);
    squares.add(seconds * seconds);
  }
  bool warm() const { return durations.size() > kFewest; }
  double mean() const { return sum.value() / static_cast<double>(durations.size()); }
  double deviation() const {
    const double variance =
        squares.value() / static_cast<double>(durations.size()) - mean() * mean();
    return std::sqrt(std::max(variance, 0.0));
  }
  std::uint64_t longer_than(double limit) const {
    const auto sorted = durations.sorted();
    return static_cast<std::uint64_t>(sorted.end() - std::ranges::upper_bound(sorted, limit));
  }

  void state(StateIo& io) {
    io(durations);
    io(sum);
    io(squares);
    io(worst);
  }
};

class StepOutlier final : public Rule {
 public:
  StepOutlier(const Params& params, const RuleContext&) : params_(params) {}

  void on_step(const Step& step, Verdicts& out) override {
    if (step.duration < Nanos{}) return;
    Lane& lane = lane_of(step);
    lane.add(to_seconds(step.duration));
    if (lane.warm()) judge(lane, step, out);
  }

  void state(StateIo& io) override {
    auto count = static_cast<std::uint32_t>(lanes_.size());
    io(count);
    if (io.is_loading()) lanes_.clear();
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      Mode mode = io.is_loading() ? Mode{} : lanes_[i].mode;
      Origin origin = io.is_loading() ? Origin{} : lanes_[i].origin;
      io(mode);
      io(origin);
      if (mode >= Mode::count_ || origin > Origin::profiler) return io.fail();
      if (io.is_loading()) lanes_.emplace_back(window(), mode, origin);
      io(lanes_[i]);
    }
  }

  Lifecycle lifecycle() const override { return {.recover_after = params_.recovery_steps}; }
  bool warming() const override { return std::ranges::none_of(lanes_, &Lane::warm); }

 private:
  std::size_t window() const { return static_cast<std::size_t>(params_.window); }

  Lane& lane_of(const Step& step) {
    for (Lane& lane : lanes_) {
      if (lane.mode == step.mode && lane.origin == step.origin) return lane;
    }
    return lanes_.emplace_back(window(), step.mode, step.origin);
  }

  double limit(const Lane& lane) const { return lane.mean() + params_.stddev * lane.deviation(); }

  void judge(Lane& lane, const Step& step, Verdicts& out) const {
    const double seconds = to_seconds(step.duration);
    const double longest = limit(lane);
    const std::uint64_t count = lane.longer_than(longest);
    if (count <= static_cast<std::uint64_t>(params_.n_outliers)) {
      return out.clear(lane.key, step.end());
    }
    const bool open = out.firings(lane.key) > 0;
    if (open && seconds <= longest) return out.holds(lane.key);
    if (!open) lane.worst = Outlier{};
    if (seconds > lane.worst.seconds) lane.worst = {step.number, step.start, step.end(), seconds};
    out.fires({.key = lane.key, .at = step.end()}, [&] { return describe(lane, count); });
  }

  static std::string evidence(const Lane& lane, std::uint64_t count, double longest) {
    const SortedWindow& durations = lane.durations;
    return JsonWriter{}
        .begin_object()
        .field("mode", to_string(lane.mode))
        .field("number_of_outliers", count)
        .field("steps", durations.size())
        .field("mean_seconds", lane.mean())
        .field("stddev_seconds", lane.deviation())
        .field("limit_seconds", longest)
        .field("min_seconds", durations.quantile(0))
        .field("p50_seconds", durations.median())
        .field("p95_seconds", durations.quantile(0.95))
        .field("p99_seconds", durations.quantile(0.99))
        .field("max_seconds", durations.quantile(1))
        .field("worst_step", lane.worst.step)
        .field("worst_seconds", lane.worst.seconds)
        .end_object()
        .take();
  }

  // Shows the longest step since the alert opened, as the one to examine.
  Verdict describe(const Lane& lane, std::uint64_t count) const {
    const double longest = limit(lane);
    Verdict verdict;
    verdict.window_start = lane.worst.start;
    verdict.window_end = lane.worst.end;
    verdict.step = lane.worst.step;
    verdict.value = lane.worst.seconds;
    verdict.threshold = longest;
    verdict.baseline = lane.mean();
    verdict.unit = "seconds";
    verdict.summary = std::to_string(count) + " of the last " +
                      std::to_string(lane.durations.size()) + " steps (" + lane.key +
                      ") took longer than " + format::seconds(longest) + ", which is " +
                      format::figure(params_.stddev) + " standard deviations above the mean of " +
                      format::seconds(lane.mean()) + "; the longest took " +
                      format::seconds(lane.worst.seconds) + ".";
    verdict.evidence = evidence(lane, count, longest);
    verdict.next =
        "Look at what happens in the long steps and not in the others: waiting for data, "
        "evaluation, checkpoints, or another process on the machine.";
    return verdict;
  }

  Params params_;
  std::deque<Lane> lanes_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<StepOutlier, Params>(
      {.id = "step_outlier",
       .scope = Scope::rank,
       .summary = "Many steps take far longer than the mean.",
       .doc = "SageMaker's StepOutlier: of the last `window` steps of a mode, when there are more "
              "than 100, those that took longer than the mean plus `stddev` standard deviations "
              "are outliers; more than `n_outliers` are too many.",
       .on_by_default = false},
      {field("stddev", &Params::stddev, 0, 100,
             "Standard deviations above the mean that make a step an outlier.", {.docs = 5}),
       field("n_outliers", &Params::n_outliers, 0, 100000, "Outliers that are tolerated."),
       field("window", &Params::window, 101, 20000, "Steps in the window."),
       field("recovery_steps", &Params::recovery_steps, 1, 1000000,
             "Consecutive steps with no more than n_outliers that end the alert.")});
  return spec;
}

}  // namespace trainwatch::step_outlier
