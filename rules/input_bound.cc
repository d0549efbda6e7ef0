// SPDX-License-Identifier: Apache-2.0
// Training waits for its data; see docs/rules/input_bound.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rules/cost_floor.h"
#include "rules/format.h"
#include "rules/loss_since.h"
#include "trainwatch/compact_duration.h"
#include "trainwatch/cycle_summary.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/ring_queue.h"
#include "trainwatch/rule.h"

namespace trainwatch::input_bound {
namespace {

struct Params {
  double warning_percent = 6;
  std::int64_t window = 100;
  std::int64_t min_steps = 10;
  std::int64_t recovery_steps = 10;
};

constexpr double kMinChange = 5;             // percent points
constexpr double kHysteresis = 0.7;          // it ends at this share of where it began
constexpr double kClearly = 0.85;            // of where it begins: by so much at least, ...
constexpr double kSigmas = 4.5;              // ... with this certainty, ...
constexpr double kMostChance = 0.5;          // ... unless it is twice as much
constexpr double kLeastRecord = 0.5;         // seconds of a profiler, for a warning
constexpr std::int64_t kRecordedSteps = 5;   // a profiler records few
constexpr std::uint32_t kStartingSteps = 3;  // in which the loader fills its queue
constexpr Origin kOrigins[] = {Origin::timeline, Origin::profiler, Origin::log};

// The steps of one writer; of a log, its intervals.
struct Lane {
  struct Entry {
    CompactDuration duration;
    CompactDuration wait;
  };
  RingQueue<Entry> recent;
  Nanos duration{};  // the sums over them
  Nanos wait{};
  double squares = 0;      // of the waits, seconds
  Entry longest;           // wait, the first of equal ones
  std::uint32_t seen = 0;  // steps of the attempt, up to kStartingSteps
  bool waited = false;     // some step had a wait
  LossSince loss;          // of a timeline

  void add(Entry entry, std::size_t window) {
    bool longest_left = recent.empty();
    if (recent.size() == window) {
      const Entry leaves = recent.front();
      duration -= leaves.duration.value();
      wait -= leaves.wait.value();
      squares -= square_of(leaves.wait);
      longest_left = leaves.wait == longest.wait;
      recent.pop_front();
    }
    recent.push_back(entry, window);
    duration += entry.duration.value();
    wait += entry.wait.value();
    squares += square_of(entry.wait);
    if (entry.wait > longest.wait) {
      longest = entry;
    } else if (longest_left) {
      find_longest();
    }
  }
  // None is longer than the one that left. Often another one is as long, as without any wait.
  void find_longest() {
    const auto same = std::ranges::find(recent, longest.wait, &Entry::wait);
    longest = same != recent.end() ? *same : *std::ranges::max_element(recent, {}, &Entry::wait);
  }
  // Without the longest wait: a single stall is not a lack of data.
  double percent() const {
    const Nanos rest = duration - longest.duration.value();
    return rest <= Nanos{} ? 0 : 100 * to_seconds(wait - longest.wait.value()) / to_seconds(rest);
  }

  // The standard error of percent(): waits that vary say less than steady ones.
  double uncertainty() const {
    const auto others = static_cast<double>(recent.size()) - 1;
    const double rest = to_seconds(duration - longest.duration.value());
    if (others < 1 || rest <= 0) return 0;
    const double mean = to_seconds(wait - longest.wait.value()) / others;
    const double variance = (squares - square_of(longest.wait)) / others - mean * mean;
    return 100 * std::sqrt(std::max(variance, 0.0) * others) / rest;
  }
  static double square_of(CompactDuration duration) {
    const double seconds = to_seconds(duration.value());
    return seconds * seconds;
  }

  void state(StateIo& io) {
    io(recent);
    io(squares);  // rounded as they came and left, so a new sum would differ
    io(seen);
    io(waited);
    io(loss);
    if (io.is_loading()) add_up();
    if (!recent.empty()) find_longest();
  }
  void add_up() {
    duration = wait = Nanos{};
    for (const Entry& entry : recent) {
      duration += entry.duration.value();
      wait += entry.wait.value();
    }
  }
};

class InputBound final : public Rule {
 public:
  InputBound(const Params& params, const RuleContext&) : params_(params) {}

  void on_complete_step(const Step& step, Verdicts& out) override {
    if (step.mode != Mode::train && step.mode != Mode::unknown) return;
    if (step.origin == Origin::profiler) return;  // its cycle says more
    Lane& lane = lane_of(step.origin);
    if (step.opens_attempt || step.opens_epoch) lane.seen = 0;
    if (step.opens_attempt) lane.loss = {};
    // The first steps of a job wait until the loader's workers have filled its queue.
    if (lane.seen < kStartingSteps) {
      lane.seen += step.steps;
      return;
    }
    lane.waited = lane.waited || step.data_wait > Nanos{};
    const Nanos iterations = step.iteration() * step.steps;
    const Nanos waits = step.data_wait * step.steps;
    lane.add({CompactDuration(iterations), CompactDuration(waits)},
             static_cast<std::size_t>(params_.window));
    lane.loss.add(step.end() - iterations, to_seconds(iterations), to_seconds(waits),
                  kHysteresis * params_.warning_percent / 100,
                  to_seconds(lane.duration) / static_cast<double>(lane.recent.size()),
                  out.firings("") > 0);
    judge(step.origin, step.number, step.end(), out);
  }

  // A wait costs what the GPU is idle for it: none of it while launched work runs. Without a GPU
  // in the trace all of it counts.
  void on_cycle(const CycleSummary& cycle, Verdicts& out) override {
    Lane& lane = lane_of(Origin::profiler);
    for (const StepSummary& step : cycle.regular_steps()) {
      if (step.number == kNoStep) continue;
      lane.waited = lane.waited || step.data_wait_ns > 0;
      const std::int64_t lost =
          cycle.activities == 0 ? step.data_wait_ns : step.idle(IdleReason::data_wait);
      lane.add({CompactDuration(Nanos{step.duration_ns}), CompactDuration(Nanos{lost})},
               static_cast<std::size_t>(params_.window));
      judge(Origin::profiler, step.number, time_from_ns(step.end_ns()), out);
    }
  }

  void state(StateIo& io) override {
    for (Lane& lane : lanes_) {
      io(lane);
      if (std::cmp_greater(lane.recent.size(), params_.window)) io.fail();
    }
  }

  Lifecycle lifecycle() const override {
    return {.recover_after = params_.recovery_steps,
            .change = Lifecycle::Change::points,
            .min_change = kMinChange};
  }
  bool warming() const override {
    return std::ranges::none_of(kOrigins, [this](Origin origin) { return judgeable(origin); });
  }
  std::vector<std::string_view> missing() const override {
    if (warming() || std::ranges::any_of(lanes_, &Lane::waited)) return {};
    return {"waits for data"};
  }

 private:
  bool judgeable(Origin origin) const {
    const std::int64_t least = origin == Origin::profiler
                                   ? std::min(params_.min_steps, kRecordedSteps)
                                   : params_.min_steps;
    return std::cmp_greater_equal(lanes_[static_cast<std::size_t>(origin)].recent.size(),
                                  std::min(least, params_.window));
  }
  Lane& lane_of(Origin origin) { return lanes_[static_cast<std::size_t>(origin)]; }

  void judge(Origin origin, std::int64_t step, Time at, Verdicts& out) {
    if (!judgeable(origin)) return;
    const Lane& lane = lane_of(origin);
    const std::string_view key = origin == Origin::timeline ? "" : to_string(origin);
    const double percent = lane.percent();
    if (percent < kHysteresis * params_.warning_percent) return out.clear(key, at);
    out.fires({.key = key,
               .at = at,
               .severity = is_costly(origin, lane) ? Severity::warning : Severity::info,
               .figure = percent,
               .opens = is_certain(lane, percent)},
              [&] { return describe(origin, step, lane, percent); });
  }
  static bool is_costly(Origin origin, const Lane& lane) {
    return origin == Origin::profiler ? to_seconds(lane.duration) >= kLeastRecord
                                      : lane.loss.lost() >= kLeastWarningSeconds;
  }

  // Waits that cost a little less than what is called a loss exceed it now and then.
  bool is_certain(const Lane& lane, double percent) const {
    const double least = kClearly * params_.warning_percent;
    const double chance = std::min(kSigmas * lane.uncertainty(), kMostChance * percent);
    return percent >= params_.warning_percent && percent - chance >= least;
  }

  static std::string summary(Origin origin, const Lane& lane, double percent) {
    const std::string steps = std::to_string(lane.recent.size());
    if (origin == Origin::log) {
      return "Training spent " + format::percent(percent) + " of the last " + steps +
             " intervals of its log waiting for data, not counting the longest wait" +
             format::saving(percent / 100) + ".";
    }
    if (origin == Origin::timeline) {
      return "Training spent " + format::percent(percent) + " of the last " + steps +
             " steps waiting for data, not counting the longest wait" +
             format::saving(percent / 100) + ".";
    }
    return "The GPU waits for data for " + format::percent(percent) + " of the last " + steps +
           " recorded steps, not counting the longest wait" + format::saving(percent / 100) + ".";
  }

  Verdict describe(Origin origin, std::int64_t step, const Lane& lane, double percent) const {
    Verdict verdict;
    verdict.step = step;
    verdict.by_step = origin == Origin::log;
    verdict.value = percent;
    verdict.threshold = params_.warning_percent;
    verdict.lost_seconds = to_seconds(lane.wait);
    if (origin != Origin::profiler) {
      verdict.since = lane.loss.since();
      verdict.lost_seconds = lane.loss.lost();
    }
    verdict.unit = "percent";
    verdict.summary = summary(origin, lane, percent);
    verdict.cause = {CauseName::input_wait,
                     1,
                     format::seconds(to_seconds(lane.wait)) + " of " +
                         format::seconds(to_seconds(lane.duration)) +
                         (origin == Origin::profiler
                              ? " passed with nothing left to run until the next batch came."
                              : " was spent waiting for data."),
                     {}};
    JsonWriter json;
    json.begin_object()
        .field("steps", lane.recent.size())
        .field("step_seconds", to_seconds(lane.duration))
        .field("data_wait_seconds", to_seconds(lane.wait))
        .field("longest_data_wait_seconds", to_seconds(lane.longest.wait.value()));
    if (origin != Origin::profiler) json.field("since", to_rfc3339(lane.loss.since()));
    verdict.evidence = json.end_object().take();
    verdict.next =
        "Load data faster: more loader workers, pinned memory, prefetching, cheaper transforms, or "
        "data closer to the GPU.";
    return verdict;
  }

  Params params_;
  std::array<Lane, std::size(kOrigins)> lanes_;  // by Origin
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<InputBound, Params>(
      {.id = "input_bound",
       .version = 8,
       .scope = Scope::rank,
       .summary = "Training waits for its data.",
       .doc = "The share of the last `window` training steps spent waiting for the next batch, "
              "leaving out the one with the longest wait, unless chance explains it. A step "
              "counts from the end of the one before, so that a wait between steps is in it. Of a "
              "job that only logs how long its iterations and their waits take, the intervals of "
              "its log.",
       .logged_steps = true,
       .incident = {.specificity = 70, .of_one_cause = true}},
      {field("warning_percent", &Params::warning_percent, 0, 100,
             "Percentage of the training time spent waiting for data; it ends at 0.7 times this."),
       field("window", &Params::window, 3, 10000, "Steps in the window."),
       field("min_steps", &Params::min_steps, 1, 10000,
             "Steps required before the first evaluation."),
       field("recovery_steps", &Params::recovery_steps, 1, 1000000,
             "Consecutive steps below it that end the alert.")});
  return spec;
}

}  // namespace trainwatch::input_bound
