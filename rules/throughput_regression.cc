// SPDX-License-Identifier: Apache-2.0
// Training has become slower and stays so; see docs/rules/throughput_regression.md.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "rules/cost_floor.h"
#include "rules/curriculum_stages.h"
#include "rules/falling_rates.h"
#include "rules/format.h"
#include "rules/other_ranks.h"
#include "rules/time_parts.h"
#include "rules/track_key.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"

namespace trainwatch::throughput_regression {
namespace {

struct Params {
  double least_lost_seconds = kLeastWarningSeconds;
  double critical_ratio = 2;
  double critical_seconds = 300;
};

constexpr std::int64_t kSure = 20;           // iterations in a row that rule out a planned change
constexpr double kCovered = 0.5;             // of the lost time, to name a cause
constexpr double kSlow = 1.0 / 200;          // weight of an iteration in what was usual before
constexpr double kQuick = 1.0 / 15;          // and in what is usual now
constexpr double kHysteresis = 0.85;         // critical ends at this share of where it began
constexpr double kFarLonger = 2;             // times what is usual now
constexpr std::uint64_t kBurstsApart = 400;  // iterations
constexpr double kSlowest = 0.98;            // of the worst: no better
constexpr double kLater = 5;                 // iterations
constexpr double kMinChange = 1.25;          // times the value of the last update
constexpr double kSlower = 1.1;              // times what was usual

struct Track {
  Parts before;
  Parts now;
  Parts slowest;                 // what `now` was when it was at its worst
  Parts earlier;                 // of the attempt before
  Time began{};                  // this attempt
  Time latest{};                 // end of the last iteration
  bool waits_come_late = false;  // from another file
  std::uint32_t world = 0;       // ranks; 0: not known
  bool other_world = false;      // than in the attempt before
  std::uint64_t bursts = 0;      // slow times lately
  std::uint64_t quiet = 0;       // iterations since the last
  double lost = 0;               // seconds since the change
  double elapsed = 0;            // seconds since the change
  std::uint64_t warm = 0;        // iterations of the attempt that were compared
  bool critical = false;
  Stages stages;
  std::int64_t other = 0;   // iterations in a row that no longer batches explain
  bool far_longer = false;  // the iteration before

  // It has been slower since the training was started again.
  bool is_slower_than_earlier(const Pace& pace) const { return pace.changed_at <= began; }
  const Parts& parts_before(const Pace& pace) const {
    return is_slower_than_earlier(pace) ? earlier : before;
  }

  // A checkpoint or a stall is none of what an iteration usually consists of; several in a row are.
  bool is_single_pause(const Step& step) {
    const bool before_it = far_longer;
    far_longer = warm > 1 && to_seconds(step.iteration()) > kFarLonger * now.total;
    return far_longer && !before_it;
  }

  void state(StateIo& io) {
    io(before);
    io(now);
    io(slowest);
    io(earlier);
    io(began);
    io(latest);
    io(waits_come_late);
    io(world);
    io(other_world);
    io(bursts);
    io(quiet);
    io(lost);
    io(elapsed);
    io(warm);
    io(critical);
    io(stages);
    io(other);
    io(far_longer);
    if (other < 0) io.fail();
  }
};

class ThroughputRegression final : public Rule {
 public:
  ThroughputRegression(const Params& params, const RuleContext& context)
      : params_(params),
        interner_(context.interner),
        subject_(context.subject),
        pauses_(context.pauses),
        rates_(context.interner) {}

  void on_scalar(const Scalar& scalar, Verdicts& out) override {
    rates_.on(scalar, {.known = warm_, .reported = scalar.ends_record && is_open(out)}, out);
  }

  void on_step(const Step& step, Verdicts& out) override {
    if (step.mode == Mode::eval) return;  // its beginning is always slow, and it is no training
    Track& track = tracks_[{step.mode, step.origin}];
    if (track.waits_come_late && !knows_waits_ && !step.opens_attempt) return;
    knows_waits_ = knows_waits_ || step.data_wait > Nanos{};
    take(track, step, out);
  }

  // Where the waits are in another file, a step is judged once its own wait was read, so that live
  // and finished files give the same alerts.
  void on_complete_step(const Step& step, Verdicts& out) override {
    if (step.mode == Mode::eval || knows_waits_) return;
    Track& track = tracks_[{step.mode, step.origin}];
    track.waits_come_late = track.waits_come_late || step.data_wait > Nanos{};
    if (track.waits_come_late && step.end() > track.latest) take(track, step, out);
  }

  void take(Track& track, const Step& step, Verdicts& out) {
    track.latest = std::max(track.latest, step.end());
    if (step.restarts) rates_.restart(step.end(), out);
    const std::string& key = track_key(step.mode, step.origin);
    if (step.opens_attempt) {
      const Parts earlier = track.before.total > 0 ? track.before : track.earlier;
      const bool late = track.waits_come_late;
      const std::uint32_t world = track.world;
      track = {};
      track.earlier = earlier;
      track.waits_come_late = late;
      track.world = step.world;
      track.other_world = world != 0 && step.world != 0 && step.world != world;
      track.latest = step.end();
      track.began = step.begin;
      return out.clear(key, step.end());
    }
    if (step.opens_epoch) return;
    warm_ = warm_ || step.pace.warm();
    // With another number of ranks, the attempt before is no reference.
    const bool other = track.other_world && track.is_slower_than_earlier(step.pace);
    const bool changed = step.pace.reference > 0 && !other;
    // What compiles in the first iterations says nothing about the others.
    if (track.warm > 0 || step.pace.warm()) ++track.warm;
    const double alone = 1 / static_cast<double>(std::max<std::uint64_t>(track.warm, 1));
    const bool pause = track.is_single_pause(step);
    if (!pause) track.now.add(step, std::max(kQuick, alone));
    if (!changed || track.now.total >= kSlowest * track.slowest.total) track.slowest = track.now;
    if (!changed) {
      if (!pause) track.before.add(step, std::max(kSlow, alone));
      track.lost = track.elapsed = 0;
      track.critical = false;
      track.stages = {};
      track.other = 0;
      return end_burst(track, key, step.end(), out);
    }
    track.quiet = 0;
    lose(track, step);
    track.stages.look_at(step.pace);
    const bool planned = is_planned(track, step.pace, out.firings(key) > 0);
    const double ratio = params_.critical_ratio * (track.critical ? kHysteresis : 1);
    // What was started again may have been changed on purpose.
    const bool may_be_meant = track.is_slower_than_earlier(step.pace);
    track.critical = !planned && !may_be_meant && step.pace.recent >= ratio * step.pace.reference &&
                     track.elapsed >= params_.critical_seconds;
    out.fires(
        {.key = key,
         .at = step.end(),
         .severity = planned          ? Severity::info
                     : track.critical ? Severity::critical
                                      : Severity::warning,
         .amount = static_cast<std::uint64_t>(track.lost),
         .figure = step.pace.recent,
         .opens = track.lost >= params_.least_lost_seconds && others_passed(step, track.world)},
        [&] { return describe(track, step, planned); });
    if (is_open(out)) rates_.end(step.end(), out);
  }

  void state(StateIo& io) override {
    io(tracks_);
    io(warm_);
    io(knows_waits_);
    io(rates_);
    for (const auto& [which, track] : tracks_) {
      if (which.first >= Mode::count_ || which.second >= Origin::count_) io.fail();
    }
  }

  Lifecycle lifecycle() const override {
    return {.change = Lifecycle::Change::factor, .min_change = kMinChange};
  }
  bool warming() const override { return !warm_ && !rates_.warm(); }

 private:
  // Where one rank logs for all, larger batches are only known once its file is read as far.
  bool others_passed(const Step& step, std::uint32_t world) const {
    constexpr int kScalars = 8;  // iterations
    if (step.origin != Origin::timeline || pauses_ == nullptr) return true;
    const Time changed = step.pace.changed_at;
    const Time until = changed + kScalars * from_seconds(step.pace.reference);
    return were_others_read(*pauses_, subject_, world, std::min(until, step.end()),
                            step.end() - changed);
  }
  // An alert about the durations of steps.
  bool is_open(const Verdicts& out) const {
    return std::ranges::any_of(tracks_, [&out](const auto& known) {
      return out.firings(track_key(known.first.first, known.first.second)) > 0;
    });
  }

  // Longer sequences or larger batches: nothing is lost. Where the phases are known they say so.
  // Elsewhere a stage of a curriculum and a slower machine are the same numbers, but the machine
  // knows no round steps.
  static bool is_planned(Track& track, const Pace& pace, bool known) {
    const Growth growth(track.parts_before(pace), track.now);
    const bool stages = track.stages.alone() && growth.may_be_of_batches();
    if (growth.is_of_batches() || stages) {
      track.other = 0;
      return true;
    }
    if (!known) track.other = kSure;
    track.other = std::min(track.other + 1, kSure);
    return track.other < kSure;
  }

  // Slowdowns that recur are one alert: from the second on, it stays open for a while.
  static void end_burst(Track& track, const std::string& key, Time at, Verdicts& out) {
    if (track.quiet == 0 && out.firings(key) > 0) ++track.bursts;
    if (++track.quiet > kBurstsApart) track.bursts = 0;
    if (track.bursts > 1) return out.holds(key);
    out.clear(key, at);
  }

  // What was lost before the change was certain is estimated from the level.
  static void lose(Track& track, const Step& step) {
    const Pace& pace = step.pace;
    const double iteration = to_seconds(step.iteration());
    if (track.elapsed == 0) {
      track.elapsed = to_seconds(step.end() - pace.changed_at);
      track.lost = track.elapsed * std::max(1 - pace.reference / pace.recent, 0.0);
      return;
    }
    track.elapsed += iteration * step.steps;
    track.lost += std::max(iteration - pace.expected(), 0.0) * step.steps;
  }

  bool has_peers() const {
    const Subject& own = interner_.subjects[subject_];
    for (std::size_t i = 0; i < interner_.subjects.size(); ++i) {
      const Subject& other = interner_.subjects[static_cast<SubjectId>(i)];
      if (other.job == own.job && other.rank != kNoRank && other.rank != own.rank) return true;
    }
    return false;
  }

  // While it was at its worst: an alert that ends still says why there was one.
  Cause cause_of(const Track& track, const Pace& pace) const {
    const Parts& before = track.parts_before(pace);
    const Growth growth(before, track.slowest);
    if (growth.total() <= 0) return {};
    const auto share = [&](double seconds) {
      return std::clamp(seconds / growth.total(), 0.0, 1.0);
    };
    if (share(growth.waits()) >= kCovered) {
      return {CauseName::input_wait,
              share(growth.waits()),
              "A step waits " + format::seconds(track.slowest.wait) + " for its input; before, " +
                  format::seconds(before.wait) + ".",
              {}};
    }
    if (growth.is_of_computation()) {
      return {CauseName::compute_growth,
              std::max(share(growth.forward() + growth.backward()), kCovered),
              "The forward pass takes " + format::seconds(track.slowest.forward) + "; before, " +
                  format::seconds(before.forward) + ".",
              {}};
    }
    if (share(growth.outside()) >= kCovered) {
      return {CauseName::host_pause,
              share(growth.outside()),
              format::seconds(track.slowest.outside) +
                  " of a step lie outside Forward, Backward and Optimizer; before, " +
                  format::seconds(before.outside) + ".",
              {}};
    }
    if (growth.is_of_waiting_for_ranks() && has_peers()) {
      return {CauseName::communication,
              share(growth.backward()),
              "The backward pass, in which ranks wait for each other, takes " +
                  format::seconds(track.slowest.backward) + "; before, " +
                  format::seconds(before.backward) + ". The forward pass is as before.",
              {}};
    }
    if (!growth.hides_computation() && share(growth.between()) >= kCovered) {
      return {CauseName::host_pause,
              share(growth.between()),
              format::seconds(track.slowest.between) + " pass between two steps; before, " +
                  format::seconds(before.between) + ".",
              {}};
    }
    return {};
  }

  Verdict describe(const Track& track, const Step& step, bool planned) const {
    const Pace& pace = step.pace;
    const double share = std::clamp(track.lost / std::max(track.elapsed, 1e-9), 0.0, 1.0);
    // The latest iterations are as fast as before: only the average of the window is slower.
    const bool at_times = pace.recent < kSlower * pace.reference && share < 1;
    const double taken =
        at_times ? std::max(pace.recent, pace.reference / (1 - share)) : pace.recent;
    Verdict verdict;
    verdict.window_start = pace.changed_at;
    verdict.window_end = step.end();
    verdict.since = pace.changed_at;
    verdict.window_lost_seconds = track.lost;
    verdict.lost_seconds = track.lost;
    verdict.step = step.number;
    verdict.by_step = step.origin == Origin::log;
    verdict.value = taken;
    verdict.threshold = kSlower * pace.reference;
    verdict.baseline = pace.reference;
    verdict.unit = "seconds";
    verdict.summary =
        "Training is " + format::figure(taken / pace.reference) + "x slower" +
        (track.is_slower_than_earlier(pace) ? " than before it was started again,"
                                            : std::string()) +
        (pace.changed_step == kNoStep ? std::string()
                                      : " since step " + std::to_string(pace.changed_step)) +
        ": an iteration takes " + format::seconds(taken) + (at_times ? " on average" : "") +
        " instead of " + format::seconds(pace.reference) +
        "; lost so far: " + format::seconds(track.lost) + " of " + format::seconds(track.elapsed) +
        ", " + format::percent(100 * share) + format::saving(share) + ".";
    verdict.cause = cause_of(track, pace);
    if (planned) verdict.summary += " Longer sequences or larger batches would explain it.";
    // A rank that knows why speaks for those that wait for it.
    if (verdict.cause.name == CauseName::unattributed) {
      verdict.since += from_seconds(kLater * pace.reference);
    }
    JsonWriter json;
    json.begin_object()
        .field("since", to_rfc3339(pace.changed_at))
        .field("since_step", pace.changed_step)
        .field("seconds", taken)
        .field("before_seconds", pace.reference)
        .field("slowdown", taken / pace.reference)
        .field("lost_seconds", track.lost)
        .field("lost_percent", 100 * share)
        .field("data_wait_seconds", track.now.wait)
        .field("before_data_wait_seconds", track.parts_before(pace).wait)
        .field("between_steps_seconds", track.now.between)
        .field("before_between_steps_seconds", track.parts_before(pace).between)
        .field("mode", to_string(step.mode))
        .field("origin", to_string(step.origin));
    verdict.evidence = json.end_object().take();
    verdict.next =
        "Compare the node with the time before: other processes, storage, GPU clocks and "
        "temperature, network; and what the training changed at that step.";
    return verdict;
  }

  Params params_;
  const Interner& interner_;
  SubjectId subject_;
  PauseActivity* pauses_;
  std::map<std::pair<Mode, Origin>, Track> tracks_;
  FallingRates rates_;
  bool warm_ = false;
  bool knows_waits_ = false;  // as a step ends
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<ThroughputRegression, Params>(
      {.id = "throughput_regression",
       .version = 6,
       .scope = Scope::rank,
       .summary = "Training has become slower and stays so.",
       .doc = "Per mode and writer: the level of the iteration times rose by 8 % or more and "
              "stayed there for 20 iterations (two CUSUM charts on the logarithm), or crept to "
              "1.35 times the best level that the attempt sustained. Ends when the level is "
              "within 5 % of what it was before. Also, as a warning, a logged rate of samples or "
              "tokens that fell to less than two thirds of its median for ten records or more, "
              "where the durations do not say so.",
       .logged_steps = true,
       .incident = {.specificity = 65}},
      {field("least_lost_seconds", &Params::least_lost_seconds, 0, 86400,
             "Seconds lost from which a slowdown is reported; shorter bursts are not."),
       field("critical_ratio", &Params::critical_ratio, 1, 1000,
             "It is critical when iterations take this many times as long as before ..."),
       field("critical_seconds", &Params::critical_seconds, 0, 86400, "... for so long.")});
  return spec;
}

}  // namespace trainwatch::throughput_regression
