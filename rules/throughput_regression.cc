// Training has become slower and stays so; see docs/rules/throughput_regression.md.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "rules/format.h"
#include "rules/track_key.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"

namespace trainwatch::throughput_regression {
namespace {

struct Params {
  double least_lost_seconds = 1.5;
  double critical_ratio = 2;
  double critical_seconds = 300;
};

constexpr double kCovered = 0.5;      // of the lost time, to name a cause
constexpr double kSlow = 1.0 / 200;   // weight of an iteration in what was usual before
constexpr double kQuick = 1.0 / 15;   // and in what is usual now
constexpr double kHysteresis = 0.85;  // critical ends at this share of where it began
constexpr double kMinChange = 1.25;   // times the value of the last update

// Where the time of an iteration goes, means in seconds.
struct Parts {
  double wait = 0;
  double between = 0;

  void add(const Step& step, double weight) {
    wait += weight * (to_seconds(step.data_wait) - wait);
    const Nanos outside = step.iteration() - step.duration - step.data_wait;
    between += weight * (to_seconds(std::max(outside, Nanos{})) - between);
  }
  void state(StateIo& io) {
    io(wait);
    io(between);
  }
};

struct Track {
  Parts before;
  Parts now;
  double lost = 0;          // seconds since the change
  double elapsed = 0;       // seconds since the change
  std::uint64_t steps = 0;  // of the attempt
  bool critical = false;

  void state(StateIo& io) {
    io(before);
    io(now);
    io(lost);
    io(elapsed);
    io(steps);
    io(critical);
  }
};

class ThroughputRegression final : public Rule {
 public:
  ThroughputRegression(const Params& params, const RuleContext&) : params_(params) {}

  void on_step(const Step& step, Verdicts& out) override {
    if (step.mode == Mode::eval) return;  // its beginning is always slow, and it is no training
    const std::string key = track_key(step.mode, step.origin);
    Track& track = tracks_[{step.mode, step.origin}];
    if (step.opens_attempt) {
      track = {};
      return out.clear(key, step.end());
    }
    ++track.steps;
    warm_ = warm_ || step.pace.warm();
    const bool changed = step.pace.reference > 0;
    track.now.add(step, std::max(kQuick, 1 / static_cast<double>(track.steps)));
    if (!changed) {
      track.before.add(step, std::max(kSlow, 1 / static_cast<double>(track.steps)));
      track.lost = track.elapsed = 0;
      track.critical = false;
      return out.clear(key, step.end());
    }
    lose(track, step);
    const double ratio = params_.critical_ratio * (track.critical ? kHysteresis : 1);
    track.critical = step.pace.recent >= ratio * step.pace.reference &&
                     track.elapsed >= params_.critical_seconds;
    out.fires({.key = key,
               .at = step.end(),
               .severity = track.critical ? Severity::critical : Severity::warning,
               .amount = static_cast<std::uint64_t>(track.lost),
               .figure = step.pace.recent,
               .opens = track.lost >= params_.least_lost_seconds},
              [&] { return describe(track, step); });
  }

  void state(StateIo& io) override {
    io(tracks_);
    io(warm_);
    for (const auto& [which, track] : tracks_) {
      if (which.first >= Mode::count_ || which.second > Origin::profiler) io.fail();
    }
  }

  Lifecycle lifecycle() const override {
    return {.change = Lifecycle::Change::factor, .min_change = kMinChange};
  }
  bool warming() const override { return !warm_; }

 private:
  // What was lost before the change was certain is estimated from the level.
  static void lose(Track& track, const Step& step) {
    const Pace& pace = step.pace;
    const double iteration = to_seconds(step.iteration());
    if (track.elapsed == 0) {
      track.elapsed = to_seconds(step.end() - pace.changed_at);
      track.lost = track.elapsed * std::max(1 - pace.reference / pace.recent, 0.0);
      return;
    }
    track.elapsed += iteration;
    track.lost += std::max(iteration - pace.reference, 0.0);
  }

  static Cause cause_of(const Track& track, const Pace& pace) {
    const double more = pace.recent - pace.reference;
    if (more <= 0) return {};
    const auto covers = [&](double seconds) { return std::clamp(seconds / more, 0.0, 1.0); };
    const double waits = track.now.wait - track.before.wait;
    const double pauses = track.now.between - track.before.between;
    if (covers(waits) >= kCovered) {
      return {CauseName::input_wait,
              covers(waits),
              "A step waits " + format::seconds(track.now.wait) + " for its input; before, " +
                  format::seconds(track.before.wait) + ".",
              {}};
    }
    if (covers(pauses) >= kCovered) {
      return {CauseName::host_pause,
              covers(pauses),
              format::seconds(track.now.between) + " pass between two steps; before, " +
                  format::seconds(track.before.between) + ".",
              {}};
    }
    return {};
  }

  static Verdict describe(const Track& track, const Step& step) {
    const Pace& pace = step.pace;
    const double share = std::clamp(track.lost / std::max(track.elapsed, 1e-9), 0.0, 1.0);
    Verdict verdict;
    verdict.window_start = pace.changed_at;
    verdict.window_end = step.end();
    verdict.since = pace.changed_at;
    verdict.window_lost_seconds = track.lost;
    verdict.lost_seconds = track.lost;
    verdict.step = step.number;
    verdict.value = pace.recent;
    verdict.threshold = 1.1 * pace.reference;
    verdict.baseline = pace.reference;
    verdict.unit = "seconds";
    verdict.summary =
        "Training is " + format::figure(pace.recent / pace.reference) + "x slower" +
        (pace.changed_step == kNoStep ? std::string()
                                      : " since step " + std::to_string(pace.changed_step)) +
        ": an iteration takes " + format::seconds(pace.recent) + " instead of " +
        format::seconds(pace.reference) + "; lost so far: " + format::seconds(track.lost) + " of " +
        format::seconds(track.elapsed) + ", " + format::percent(100 * share) + ".";
    verdict.cause = cause_of(track, pace);
    JsonWriter json;
    json.begin_object()
        .field("since", to_rfc3339(pace.changed_at))
        .field("since_step", pace.changed_step)
        .field("seconds", pace.recent)
        .field("before_seconds", pace.reference)
        .field("slowdown", pace.recent / pace.reference)
        .field("lost_seconds", track.lost)
        .field("lost_percent", 100 * share)
        .field("data_wait_seconds", track.now.wait)
        .field("before_data_wait_seconds", track.before.wait)
        .field("between_steps_seconds", track.now.between)
        .field("before_between_steps_seconds", track.before.between)
        .field("mode", to_string(step.mode))
        .field("origin", to_string(step.origin));
    verdict.evidence = json.end_object().take();
    verdict.next =
        "Compare the node with the time before: other processes, storage, GPU clocks and "
        "temperature, network; and what the training changed at that step.";
    return verdict;
  }

  Params params_;
  std::map<std::pair<Mode, Origin>, Track> tracks_;
  bool warm_ = false;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<ThroughputRegression, Params>(
      {.id = "throughput_regression",
       .scope = Scope::rank,
       .summary = "Training has become slower and stays so.",
       .doc = "Per mode and writer: the level of the iteration times rose by 8 % or more and "
              "stayed there for 20 iterations (two CUSUM charts on the logarithm), or crept to "
              "1.35 times the best level that the attempt sustained. Ends when the level is "
              "within 5 % of what it was before.",
       .incident = {.specificity = 65, .of_one_cause = true}},
      {field("least_lost_seconds", &Params::least_lost_seconds, 0, 86400,
             "Seconds lost from which a slowdown is reported; shorter bursts are not."),
       field("critical_ratio", &Params::critical_ratio, 1, 1000,
             "It is critical when iterations take this many times as long as before ..."),
       field("critical_seconds", &Params::critical_seconds, 0, 86400, "... for so long.")});
  return spec;
}

}  // namespace trainwatch::throughput_regression
