// SPDX-License-Identifier: Apache-2.0
// Iterations that take far longer than the others; see docs/rules/step_spike.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rules/cost_floor.h"
#include "rules/long_pause.h"
#include "rules/other_ranks.h"
#include "rules/round_steps.h"
#include "rules/slow_step_verdict.h"
#include "rules/slow_steps.h"
#include "trainwatch/rule.h"

namespace trainwatch::step_spike {
namespace {

struct Params {
  double ratio = 1.5;
  double warning_ratio = 3;
  double warning_seconds = kLeastWarningSeconds;
  double info_seconds = 0.5;
  double warning_percent = 5;
  double info_percent = 1;
};

constexpr double kHysteresis = 0.7;  // a warning ends at this share of where it began
constexpr double kLeastRise = 1.15;  // that may come round
constexpr double kCoreSigmas = 5;    // the same, for jobs whose steps vary
constexpr double kRecord = 0.1;      // times info_seconds, in the short record of a profiler
constexpr double kLogSeconds = 2;    // that a log must lose: it may have whole seconds
constexpr double kSaves = 0.5;       // of an iteration: a checkpoint that takes longer counts
constexpr auto kHeldFor = std::chrono::seconds(5);  // of the clock
constexpr double kMostly = 0.8;                     // of the lost time
constexpr double kPhasePercent = 30;                // of the time: too much for a checkpoint
constexpr std::int64_t kEpoch = 50;                 // steps, at least
constexpr double kLoaderCost = 0.12;  // the same, where it is mostly the start of a loader
constexpr std::int64_t kEarly = 64;   // steps of an attempt
constexpr double kEarlyRatio = 9;
constexpr double kFirstEarlyRatio = 30;  // of a pause
constexpr double kEarlySeconds = 60;
constexpr std::int64_t kFirstOfEpoch = 6;  // steps of an epoch, or a stage, which may compile
constexpr std::uint64_t kPatterns = 130;   // steps after which the kinds of steps are known

class StepSpike final : public Rule {
 public:
  StepSpike(const Params& params, const RuleContext& context)
      : params_(params), rank_(context.subject), pauses_(context.pauses) {}

  void on_step(const Step& step, Verdicts& out) override {
    // The mean of an interval says nothing about single steps, nor does the time of a file.
    warm_ = warm_ || step.pace.warm();
    Track& track = track_of(step);
    if (step.origin == Origin::log && !step.opens_attempt) follow_frequent(track, step, out);
    if (step.origin == Origin::log && !step.is_single() && !step.opens_attempt) {
      return judge_interval(track, step, out);
    }
    if (step.opens_attempt) {
      decide_all(track, out);
      track.begin_attempt(step.end());
      track.world = step.world;
      out.clear_all(step.end());
    }
    ++track.seen;
    track.has_fractions = track.has_fractions || step.duration % std::chrono::seconds(1) != Nanos{};
    if (!track.held.empty()) note_next(track, step.end());
    track.since_epoch = std::min<std::int64_t>(track.since_epoch + 1, 100);
    if (step.opens_epoch) track.begin_epoch(step);
    judge(track, step, out);
    track.latest = track.place(step);
    track.last_end = step.end();
    track.scheduled.add(step);
    track.checkpoint = 0;
    track.marked = track.saved = false;
    decide(track, out);
  }

  void on_complete_step(const Step& step, Verdicts& out) override {
    Track& track = track_of(step);
    if (track.held.empty() && track.usual_wait > 0) return;
    track.waits_come_late =
        track.waits_come_late || (step.data_wait > Nanos{} && track.usual_wait == 0);
    for (std::size_t i = 0; i < track.held.size(); ++i) {
      Candidate& candidate = track.held[i];
      if (candidate.step.end() != step.end()) continue;
      candidate.step.data_wait = std::max(candidate.step.data_wait, step.data_wait);
      candidate.complete = true;
    }
    decide(track, out);
  }

  void on_span(const Span& span, Verdicts&) override {
    if (span.kind == SpanKind::evaluation) {
      if (span.origin == Origin::log) note_in_logs(&Track::marked);
      return;
    }
    if (span.origin == Origin::log && span.duration == Nanos{}) {
      return note_in_logs(&Track::saved);
    }
    const bool loader = span.kind == SpanKind::data_init;
    const double seconds = to_seconds(std::max(span.duration, Nanos{}));
    for (Track& track : tracks_) {
      if (track.origin != span.origin) continue;
      if (loader) {
        track.loader_at = span.start;
      } else {
        track.checkpoint += seconds;
      }
    }
  }

  // Judges what was held too long: another rank may have ended.
  TickResult on_tick(Tick tick, Verdicts& out) override {
    bool changed = false;
    Time next = Time::max();
    for (Track& track : tracks_) {
      while (!track.held.empty() && track.held.front().step.end() + kHeldFor <= tick.now) {
        decide_oldest(track, out);
        changed = true;
      }
      if (!track.held.empty()) next = std::min(next, track.held.front().step.end() + kHeldFor);
    }
    return {changed, next};
  }
  void on_end(Time, Verdicts& out) override {
    for (Track& track : tracks_) decide_all(track, out);
  }

  void state(StateIo& io) override {
    auto count = static_cast<std::uint32_t>(tracks_.size());
    io(count);
    if (io.is_loading()) tracks_.clear();
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      Mode mode = io.is_loading() ? Mode{} : tracks_[i].mode;
      Origin origin = io.is_loading() ? Origin{} : tracks_[i].origin;
      io(mode);
      io(origin);
      if (mode >= Mode::count_ || origin >= Origin::count_) return io.fail();
      if (io.is_loading()) tracks_.emplace_back(mode, origin);
      io(tracks_[i]);
    }
    io(warm_);
  }

  bool warming() const override { return !warm_; }

 private:
  void note_in_logs(bool Track::*flag) {
    for (Track& track : tracks_) {
      if (track.origin == Origin::log) track.*flag = true;
    }
  }

  Track& track_of(const Step& step) {
    for (Track& track : tracks_) {
      if (track.mode == step.mode && track.origin == step.origin) return track;
    }
    return tracks_.emplace_back(step.mode, step.origin);
  }

  // Slow records that have become so frequent that none of them is unusual.
  void follow_frequent(Track& track, const Step& step, Verdicts& out) const {
    if (!step.pace.warm() || step.opens_epoch || step.estimated) return;
    if (track.saved || track.marked || track.checkpoint > 0) return;
    track.frequent.add(step);
    if (!track.frequent.is_open()) return out.clear(track.frequent_key, step.end());
    if (track.rhythm.detector.period() > 0 || track.episode.expected) return;
    out.fires({.key = track.frequent_key,
               .at = step.end(),
               .amount = static_cast<std::uint64_t>(track.frequent.lost()),
               .opens = track.frequent.lost() >= params_.warning_seconds},
              [&] { return describe_frequent(track, step); });
  }

  // Of a record of several steps, only a marked checkpoint is judged, by the time beyond the usual.
  void judge_interval(Track& track, const Step& step, Verdicts& out) const {
    const bool saved = std::exchange(track.saved, false);
    const double checkpoint = std::exchange(track.checkpoint, 0);
    track.marked = false;
    ++track.seen;
    const bool known = step.pace.warm() && track.last_end != Time{} && !step.opens_epoch;
    const Time before = std::exchange(track.last_end, step.end());
    if (!known) return track.scheduled.add(step);
    const double usual = step.pace.usual * step.steps;
    const double lost = to_seconds(step.end() - before) - usual;
    if ((saved || checkpoint > 0) && lost >= kLogSeconds) {
      Candidate candidate{.step = step,
                          .seen = track.seen,
                          .place = track.place(step),
                          .done = track.scheduled.steps().done(),
                          .round = true,
                          .checkpoint = saved ? lost : std::min(checkpoint, lost)};
      Spike spike = measured(track, candidate);
      spike.usual = usual;
      spike.seconds = usual + candidate.checkpoint;
      spike.limit = usual + kLogSeconds;
      spike.start = before;
      find_spike(track, candidate, spike, false, out);
    } else {
      end_episode(track, track.seen, step.end(), out);
    }
    track.scheduled.add(step);
  }

  static void note_next(Track& track, Time end) {
    for (std::size_t i = 0; i < track.held.size(); ++i) {
      Time& next = track.held[i].next_end;
      if (next == kNoTime) next = end;
    }
  }

  // Seconds before the step that the log's own timer leaves out, as it does while the job saves.
  static double unrecorded(const Track& track, const Step& step) {
    if (step.origin != Origin::log || track.last_end == Time{} || step.opens_epoch) return 0;
    const double gap = to_seconds(step.begin - track.last_end);
    const double longer = std::max(to_seconds(step.iteration()) - step.pace.usual, 0.0);
    const double saved = std::max(track.checkpoint - longer, 0.0);  // as the log says
    return std::max(gap >= kLogSeconds ? gap : 0, saved > kSaves * step.pace.usual ? saved : 0);
  }

  bool is_slow(const Step& step, double gap) const {
    const double seconds = to_seconds(step.iteration()) + gap;
    return gap > 0 || may_recur(step) ||
           (seconds > step.pace.limit && seconds >= params_.ratio * step.pace.usual);
  }

  void judge(Track& track, const Step& step, Verdicts& out) const {
    if (step.opens_attempt || !step.pace.warm()) return track.add_normal(step);
    const double gap = unrecorded(track, step);
    if (!is_slow(step, gap)) {
      if (track.held.empty()) stay_quiet(track, track.place(step), step.end(), out);
      if (!step.opens_epoch) track.add_normal(step);
      return end_episode(track, track.seen, step.end(), out);
    }
    if (track.held.size() == Track::kMostHeld) decide_oldest(track, out);
    const RoundSteps& steps = track.scheduled.steps();
    track.held.push_back({.step = step,
                          .seen = track.seen,
                          .place = track.place(step),
                          .done = steps.done(),
                          .round = steps.is_round(),
                          .loader_started = track.loader_started_in(step),
                          .marked = track.marked,
                          .checkpoint = std::max(track.saved ? gap : 0, track.checkpoint),
                          .gap = gap},
                         Track::kMostHeld);
  }

  bool is_ready(const Track& track, const Candidate& candidate) const {
    if (track.origin != Origin::timeline) return true;
    if (track.waits_come_late && !candidate.complete) return false;
    if (pauses_ == nullptr || has_own_reason(measured(track, candidate))) return true;
    const Time until = candidate.step.end();
    return were_others_read(*pauses_, rank_, track.world, until, track.last_end - until);
  }
  // The rank lost the time by itself and did not wait for another one.
  static bool has_own_reason(const Spike& spike) {
    const double own = std::max(
        {spike.paused(), spike.waited(), spike.outside - spike.usual_outside, spike.checkpoint});
    return own * 2 >= spike.lost();
  }
  void decide(Track& track, Verdicts& out) const {
    while (!track.held.empty() && is_ready(track, track.held.front())) decide_oldest(track, out);
  }
  void decide_all(Track& track, Verdicts& out) const {
    while (!track.held.empty()) decide_oldest(track, out);
  }

  void decide_oldest(Track& track, Verdicts& out) const {
    const Candidate candidate = track.held.front();
    track.held.pop_front();
    const Step& step = candidate.step;
    const Spike spike = measured(track, candidate);
    if (waited_for_a_pause(track, step, spike)) {
      return end_episode(track, candidate.seen, step.end(), out);
    }
    const bool of_log = track.origin == Origin::log;
    const bool single = !of_log || (track.has_fractions && !candidate.marked);
    if (single) follow_rhythm(track, spike, candidate, out);
    const Nanos known = step.evaluation - from_seconds(candidate.checkpoint);
    const bool stood_still = !of_log && step.iteration() + known > step.pace.patience();
    const bool due = track.rhythm.detector.is_due(candidate.place);
    if (!stood_still) find_spike(track, candidate, spike, due, out);  // else the rule stall reports
    if (candidate.next_end != kNoTime) {
      end_episode(track, candidate.seen + 1, candidate.next_end, out);
    }
  }

  // A pause of another rank explains why this one was slow; the other rank's alert reports it.
  bool waited_for_a_pause(const Track& track, const Step& step, const Spike& spike) const {
    if (pauses_ == nullptr || track.origin != Origin::timeline) return false;
    if (has_own_reason(spike)) return false;
    const double paused = to_seconds(pauses_->of_others(rank_, step.begin, step.end()));
    const double seconds = to_seconds(step.iteration());
    return paused > 0 &&
           (paused >= kMostly * (seconds - step.pace.usual) || seconds - paused <= step.pace.limit);
  }

  static Spike measured(const Track& track, const Candidate& candidate) {
    const Step& step = candidate.step;
    return {.step = step.number,
            .start = step.begin - from_seconds(candidate.gap),
            .end = step.end(),
            .seconds = to_seconds(step.iteration()) + candidate.gap,
            .usual = step.pace.usual,
            .limit = step.pace.limit,
            .wait = to_seconds(step.data_wait),
            .usual_wait = track.usual_wait,
            .between = to_seconds(step.between()) + candidate.gap,
            .before = to_seconds(step.iteration() - step.duration),
            .usual_between = track.usual_between,
            .outside = to_seconds(step.outside_phases()),
            .usual_outside = track.usual_outside,
            .optimizer = to_seconds(step.optimizer),
            .usual_optimizer = track.usual_optimizer,
            .checkpoint = candidate.checkpoint,
            .loader_started = candidate.loader_started || step.opens_epoch,
            .done = candidate.done,
            .resized = step.resized,
            .round = candidate.round};
  }

  // A step that is slow enough to come round, whether or not this job often has such steps.
  static bool may_recur(const Step& step) {
    const double least = std::max(kLeastRise, std::exp(kCoreSigmas * step.pace.sigma));
    return to_seconds(step.iteration()) >= least * step.pace.usual;
  }

  void stay_quiet(Track& track, std::int64_t place, Time at, Verdicts& out) const {
    Rhythm& rhythm = track.rhythm;
    const bool known = rhythm.detector.period() > 0;
    rhythm.detector.quiet(place);
    if (known && rhythm.detector.period() == 0) out.clear(track.periodic_key, at);
  }

  void follow_rhythm(Track& track, const Spike& spike, const Candidate& candidate,
                     Verdicts& out) const {
    Rhythm& rhythm = track.rhythm;
    const std::int64_t place = candidate.place;
    const bool known = rhythm.detector.period() > 0;
    rhythm.note(spike, place);
    rhythm.detector.event(place);
    if (rhythm.detector.period() == 0) {
      if (known) out.clear(track.periodic_key, spike.end);
      return;
    }
    if (!rhythm.detector.is_due(place)) return;
    if (!known) rhythm.begin(spike, place, place - static_cast<std::int64_t>(candidate.seen));
    rhythm.add(spike);
    // Until then, a rhythm may turn out to be a pattern of the job (Pace::scale).
    if (candidate.seen > kPatterns) report_rhythm(track, out);
  }

  void report_rhythm(Track& track, Verdicts& out) const {
    Rhythm& rhythm = track.rhythm;
    const double percent = 100 * rhythm.share();
    if (percent < kHysteresis * params_.info_percent) {
      return out.clear(track.periodic_key, rhythm.latest.end);
    }
    const double least = warning_percent_of(track, rhythm.detector.period());
    if (percent >= kPhasePercent && is_phase(rhythm)) return;
    rhythm.warned = percent >= least * (rhythm.warned ? kHysteresis : 1);
    out.fires({.key = track.periodic_key,
               .at = rhythm.latest.end,
               .severity = rhythm.warned ? Severity::warning : Severity::info,
               .amount = static_cast<std::uint64_t>(rhythm.lost),
               .opens = percent >= params_.info_percent},
              [&] { return describe(track); });
  }

  // What a job does in turns from the start, such as generating samples: neither a checkpoint nor a
  // wait for data.
  static bool is_phase(const Rhythm& rhythm) {
    const Spike& latest = rhythm.latest;
    const double known = std::max(latest.checkpoint, latest.waited());
    return rhythm.from_the_start && !latest.loader_started && 2 * known < latest.lost();
  }

  // A long unmarked pause that recurs is an evaluation or the end of an epoch. At a round number of
  // steps it may be a checkpoint, which should cost less.
  double warning_percent_of(const Track& track, std::int64_t period) const {
    const bool may_be_epoch = period >= kEpoch && !RoundSteps::is_multiple(period);
    const Spike& latest = track.rhythm.latest;
    const bool pause = latest.checkpoint == 0 && may_be_pause(track, latest);
    // Some optimizers do more work every so many steps.
    if (latest.in_optimizer() >= kMostly * latest.lost()) return 100;
    return may_be_epoch && pause ? 100 * ScheduledPauses::Cost::kMost : params_.warning_percent;
  }
  // Between two steps. A log does not show where the time went.
  static bool may_be_pause(const Track& track, const Spike& spike) {
    return track.origin == Origin::log || spike.paused() >= kMostly * spike.lost();
  }

  void find_spike(Track& track, const Candidate& candidate, const Spike& spike, bool due,
                  Verdicts& out) const {
    const bool saves = spike.checkpoint >= kMostly * spike.lost();
    const bool of_log = track.origin == Origin::log;
    const bool slow =
        (of_log && saves) || (spike.seconds > spike.limit && spike.ratio() >= params_.ratio);
    const bool of_rhythm = due && spike.lost() <= Rhythm::kStandsOut * track.rhythm.mean_lost();
    if (!slow || of_rhythm) return end_episode(track, candidate.seen, spike.end, out);
    if (of_log && !track.has_fractions && spike.lost() < kLogSeconds && !saves) {
      return end_episode(track, candidate.seen, spike.end, out);
    }
    ScheduledPauses::Cost cost;
    if (track.origin != Origin::profiler) cost = track.scheduled.cost(spike, of_log);
    const bool phase =
        of_log && !saves && !cost.loader && cost.again && cost.share >= kPhasePercent / 100;
    const double most = phase                                ? 1
                        : (of_log && !saves) || cost.between ? ScheduledPauses::Cost::kMost
                        : cost.loader                        ? kLoaderCost
                                                             : params_.warning_percent / 100;
    if (candidate.marked || (cost.expected && cost.share < most)) {
      const bool quiet = of_log || cost.loader;
      return report_scheduled(track, candidate, spike, quiet ? 0 : cost.share, out);
    }
    if (track.since_epoch < kFirstOfEpoch && spike.ratio() < kEarlyRatio) {
      return end_episode(track, candidate.seen, spike.end, out);
    }
    begin_episode(track, candidate.seen, spike, out);
    track.episode.add(spike, candidate.seen);
    if (of_log && !saves && is_long_pause(spike.lost(), spike.usual)) ++track.long_pauses;
    if (cost.expected) track.episode.comes_again_in(cost.distance);
    report_episode(track, spike, out);
  }

  void report_episode(Track& track, const Spike& spike, Verdicts& out) const {
    const Episode& episode = track.episode;
    const Spike& worst = episode.worst;
    const double percent = 100 * episode.lost_share(spike.end);
    // Consecutive slow steps may be a new level; wait until a usual step follows.
    const bool costly = episode.spikes > 2 && episode.in_a_row < 3 &&
                        percent >= params_.warning_percent &&
                        episode.lost >= params_.warning_seconds;
    // Early in an attempt, recurring slow steps come for the first time.
    const double early_ratio =
        may_be_pause(track, worst) && episode.spikes == 1 ? kFirstEarlyRatio : kEarlyRatio;
    const bool early = !episode.expected && worst.done < kEarly && worst.ratio() < early_ratio &&
                       worst.lost() < kEarlySeconds;
    const bool pause = !episode.expected && may_be_pause(track, worst) &&
                       is_long_pause(worst.lost(), worst.usual) && track.long_pauses < 2;
    // The first step of another size compiles, or starts a loader.
    const bool severe = worst.lost() >= params_.warning_seconds &&
                        worst.ratio() >= params_.warning_ratio && !early && !pause &&
                        !worst.resized;
    const double least = params_.info_seconds * (track.origin == Origin::profiler ? kRecord : 1);
    out.fires({.key = track.key,
               .at = spike.end,
               .severity = severe || costly ? Severity::warning : Severity::info,
               .opens = worst.lost() >= least || costly},
              [&] { return describe_episode(track); });
  }

  // Most likely on purpose, and cheap. It is no part of an episode.
  void report_scheduled(Track& track, const Candidate& candidate, const Spike& spike, double cost,
                        Verdicts& out) const {
    end_episode(track, candidate.seen, spike.end, out);
    if (track.episode.spikes > 0 || 100 * cost < params_.info_percent) return;
    track.episode.add(spike, candidate.seen);
    out.fires({.key = track.key,
               .at = spike.end,
               .severity = Severity::info,
               .opens = spike.lost() >= params_.info_seconds},
              [&] { return describe_episode(track); });
    out.clear(track.key, spike.end);
    track.episode = {};
  }

  // One episode is one size: a far larger slow step begins its own.
  void begin_episode(Track& track, std::uint64_t seen, const Spike& spike, Verdicts& out) const {
    Episode& episode = track.episode;
    const bool near = episode.spikes > 0 && seen - episode.latest_seen <= episode.together;
    const bool far_larger = episode.spikes > 0 && spike.lost() >= 3 * episode.worst.lost() &&
                            spike.lost() >= params_.warning_seconds;
    if (near && !far_larger) return;
    out.clear(track.key, spike.start);
    episode = {};
  }

  // A single slow step is over at once; several near each other are over when no more come.
  void end_episode(Track& track, std::uint64_t seen, Time at, Verdicts& out) const {
    if (track.episode.spikes == 0 || seen <= track.episode.latest_seen) return;
    if (track.episode.in_a_row > 2) {
      track.episode.in_a_row = 0;
      report_episode(track, track.episode.worst, out);
    }
    const bool over = seen - track.episode.latest_seen > track.episode.together;
    const bool alone = track.episode.spikes == 1 && !track.episode.expected;
    if (alone || over) out.clear(track.key, at);
    if (over) track.episode = {};
  }

  Verdict describe(const Track& track) const {
    Verdict verdict = describe_rhythm(track);
    // A cheap one is not what stalls in the meantime are about.
    const Rhythm& rhythm = track.rhythm;
    const bool cheap = 100 * rhythm.share() < kHysteresis * params_.warning_percent;
    if (cheap) verdict.since = rhythm.latest.start;
    return verdict;
  }

  Params params_;
  SubjectId rank_;
  PauseActivity* pauses_;
  std::vector<Track> tracks_;
  bool warm_ = false;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<StepSpike, Params>(
      {.id = "step_spike",
       .version = 8,
       .scope = Scope::rank,
       .summary = "A step takes far longer than the others, once, repeatedly or at a fixed "
                  "interval.",
       .doc = "Per mode and writer, over iterations: from the end of one step to the end of the "
              "next. An iteration is slow when it is beyond the tail that the job has shown, and "
              "takes `ratio` times the median. Slow steps at equal distances are periodic when "
              "chance is excluded. Of a log only records of single steps with times count.",
       .spans = {SpanKind::checkpoint, SpanKind::evaluation, SpanKind::data_init},
       .logged_steps = true,
       .incident = {.specificity = 50,
                    .slack = std::chrono::seconds(1),
                    .of_one_step = true,
                    .of_one_cause = true}},
      {field("ratio", &Params::ratio, 1, 100,
             "A slow step takes at least this many times the median."),
       field("warning_ratio", &Params::warning_ratio, 1, 1000,
             "A single slow step is a warning when it takes this many times the median ..."),
       field("warning_seconds", &Params::warning_seconds, 0, 86400,
             "... and loses at least this much."),
       field("info_seconds", &Params::info_seconds, 0, 86400,
             "A slow step that loses less is not reported."),
       field("warning_percent", &Params::warning_percent, 0, 100,
             "Slow steps that come round or pile up are a warning when they cost this percentage "
             "of the time."),
       field("info_percent", &Params::info_percent, 0, 100,
             "Slow steps that come round, or are expected to, and cost less are not reported.")});
  return spec;
}

}  // namespace trainwatch::step_spike
