// SPDX-License-Identifier: Apache-2.0
// Iterations that take far longer than the others; see docs/rules/step_spike.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "rules/slow_step_verdict.h"
#include "rules/slow_steps.h"
#include "trainwatch/rule.h"

namespace trainwatch::step_spike {
namespace {

struct Params {
  double ratio = 1.5;
  double warning_ratio = 3;
  double warning_seconds = 1;
  double info_seconds = 0.5;
  double warning_percent = 5;
  double info_percent = 1;
};

constexpr double kHysteresis = 0.7;       // a warning ends at this share of where it began
constexpr double kLeastRise = 1.15;       // that may come round
constexpr double kCoreSigmas = 5;         // the same, for jobs whose steps vary
constexpr std::uint64_t kTogether = 100;  // iterations; slow ones that near are one episode
constexpr double kRecord = 0.1;           // times info_seconds, in the short record of a profiler
constexpr double kLogSeconds = 2;         // that a log must lose: it may have whole seconds
constexpr double kLogCost = 0.25;         // of the time, that an expected pause of a log may cost

class StepSpike final : public Rule {
 public:
  StepSpike(const Params& params, const RuleContext&) : params_(params) {}

  void on_step(const Step& step, Verdicts& out) override {
    // The mean of an interval says nothing about single steps, nor does the time of a file.
    warm_ = warm_ || step.pace.warm();
    if (step.origin == Origin::log && !step.is_single() && !step.opens_attempt) return;
    Track& track = track_of(step);
    if (step.opens_attempt) {
      track.begin_attempt(step.end());
      out.clear_all(step.end());
    }
    ++track.seen;
    if (step.opens_epoch) {
      track.begin_epoch(step);
    } else {
      judge(track, step, out);
    }
    track.latest = track.place(step);
    track.scheduled.add(step);
    track.checkpoint = 0;
    track.loader_started = false;
    track.marked = false;
  }

  void on_span(const Span& span, Verdicts&) override {
    if (span.kind == SpanKind::evaluation) {
      if (span.origin == Origin::log) mark_log();
      return;
    }
    if (span.origin == Origin::log) return mark_log();
    const bool loader = span.kind == SpanKind::data_init;
    const double seconds = to_seconds(std::max(span.duration, Nanos{}));
    for (Track& track : tracks_) {
      if (track.origin != span.origin) continue;
      loader ? track.loader_started = true : track.checkpoint += seconds;
    }
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
  void mark_log() {
    for (Track& track : tracks_) track.marked = track.marked || track.origin == Origin::log;
  }

  Track& track_of(const Step& step) {
    for (Track& track : tracks_) {
      if (track.mode == step.mode && track.origin == step.origin) return track;
    }
    return tracks_.emplace_back(step.mode, step.origin);
  }

  void judge(Track& track, const Step& step, Verdicts& out) const {
    if (step.opens_attempt) return track.add_normal(step);
    track.rhythm.beginning.add(track.place(step), to_seconds(step.iteration()));
    if (!step.pace.warm()) return track.add_normal(step);
    if (track.origin == Origin::log) return find_spike(track, step, false, out);
    follow_rhythm(track, step, out);
    const Nanos known = step.evaluation - from_seconds(track.checkpoint);
    const bool stood_still = step.iteration() + known > step.pace.patience();
    const bool due = track.rhythm.detector.is_due(track.place(step));
    if (!stood_still) find_spike(track, step, due, out);  // else the rule stall reports
  }

  static Spike measured(const Track& track, const Step& step) {
    return {.step = step.number,
            .start = step.begin,
            .end = step.end(),
            .seconds = to_seconds(step.iteration()),
            .usual = step.pace.usual,
            .limit = step.pace.limit,
            .wait = to_seconds(step.data_wait),
            .usual_wait = track.usual_wait,
            .between = to_seconds(step.between()),
            .usual_between = track.usual_between,
            .outside = to_seconds(step.outside_phases()),
            .usual_outside = track.usual_outside,
            .checkpoint = track.checkpoint,
            .loader_started = track.loader_started};
  }

  // A step that is slow enough to come round, whether or not this job often has such steps.
  static bool may_recur(const Step& step) {
    const double least = std::max(kLeastRise, std::exp(kCoreSigmas * step.pace.sigma));
    return to_seconds(step.iteration()) >= least * step.pace.usual;
  }

  void follow_rhythm(Track& track, const Step& step, Verdicts& out) const {
    Rhythm& rhythm = track.rhythm;
    const std::int64_t place = track.place(step);
    const bool known = rhythm.detector.period() > 0;
    const bool slow = may_recur(step);
    if (slow) rhythm.note(measured(track, step), place);
    slow ? rhythm.detector.event(place) : rhythm.detector.quiet(place);
    if (rhythm.detector.period() == 0) {
      if (known) out.clear(track.periodic_key, step.end());
      return;
    }
    if (known) rhythm.elapsed += to_seconds(step.iteration());
    if (!slow || !rhythm.detector.is_due(place)) return;
    const Spike spike = measured(track, step);
    if (!known) rhythm.begin(spike, place);
    rhythm.add(spike);
    report_rhythm(track, out);
  }

  void report_rhythm(Track& track, Verdicts& out) const {
    Rhythm& rhythm = track.rhythm;
    if (rhythm.nature && rhythm.mean_ratio() < params_.warning_ratio) return;
    const double percent = 100 * rhythm.share();
    if (percent < kHysteresis * params_.info_percent) {
      return out.clear(track.periodic_key, rhythm.latest.end);
    }
    rhythm.warned = percent >= params_.warning_percent * (rhythm.warned ? kHysteresis : 1);
    out.fires({.key = track.periodic_key,
               .at = rhythm.latest.end,
               .severity = rhythm.warned ? Severity::warning : Severity::info,
               .amount = static_cast<std::uint64_t>(rhythm.lost),
               .opens = percent >= params_.info_percent},
              [&] { return describe(track); });
  }

  void find_spike(Track& track, const Step& step, bool due, Verdicts& out) const {
    const double seconds = to_seconds(step.iteration());
    const bool slow = seconds > step.pace.limit && seconds >= params_.ratio * step.pace.usual;
    if (!slow) {
      track.add_normal(step);
      return end_episode(track, step, out);
    }
    const Spike spike = measured(track, step);
    Rhythm& rhythm = track.rhythm;
    if (due && spike.lost() <= Rhythm::kStandsOut * rhythm.mean_lost()) {
      return end_episode(track, step, out);
    }
    if (track.origin == Origin::log && is_quiet(track, spike)) {
      return end_episode(track, step, out);
    }
    if (track.origin == Origin::timeline) {
      const double cost = track.scheduled.cost(spike, false);
      if (100 * cost < params_.warning_percent) {
        return report_scheduled(track, step, spike, cost, out);
      }
    }
    begin_episode(track, spike, out);
    track.episode.add(spike, track.seen);
    const double percent = 100 * track.episode.lost_share(spike.end);
    const bool again = track.episode.spikes > 1;
    const bool costly = again && percent >= params_.warning_percent &&
                        track.episode.lost >= params_.warning_seconds;
    const Spike& worst = track.episode.worst;
    const bool severe =
        worst.lost() >= params_.warning_seconds && worst.ratio() >= params_.warning_ratio;
    const double least = params_.info_seconds * (track.origin == Origin::profiler ? kRecord : 1);
    out.fires({.key = track.key,
               .at = spike.end,
               .severity = severe || costly ? Severity::warning : Severity::info,
               .opens = worst.lost() >= least},
              [&] { return describe_episode(track); });
  }

  // A log shows neither evaluations nor checkpoints, unless it says so: what comes round is one.
  static bool is_quiet(Track& track, const Spike& spike) {
    const bool expected = track.scheduled.cost(spike, true) < kLogCost;
    return expected || track.marked || spike.lost() < kLogSeconds;
  }

  // Most likely on purpose, and cheap. It is no part of an episode.
  void report_scheduled(Track& track, const Step& step, const Spike& spike, double cost,
                        Verdicts& out) const {
    end_episode(track, step, out);
    if (track.episode.spikes > 0 || 100 * cost < params_.info_percent) return;
    track.episode.add(spike, track.seen);
    out.fires({.key = track.key,
               .at = spike.end,
               .severity = Severity::info,
               .opens = spike.lost() >= params_.info_seconds},
              [&] { return describe_episode(track); });
    out.clear(track.key, spike.end);
    track.episode = {};
  }

  // One episode is one size: a far larger slow step begins its own.
  void begin_episode(Track& track, const Spike& spike, Verdicts& out) const {
    Episode& episode = track.episode;
    const bool near = episode.spikes > 0 && track.seen - episode.latest_seen <= kTogether;
    const bool far_larger = episode.spikes > 0 && spike.lost() >= 3 * episode.worst.lost() &&
                            spike.lost() >= params_.warning_seconds;
    if (near && !far_larger) return;
    out.clear(track.key, spike.start);
    episode = {};
  }

  // A single slow step is over at once; several near each other are over when no more come.
  void end_episode(Track& track, const Step& step, Verdicts& out) const {
    if (track.episode.spikes == 0) return;
    const bool over = track.seen - track.episode.latest_seen > kTogether;
    if (track.episode.spikes == 1 || over) out.clear(track.key, step.end());
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
  std::vector<Track> tracks_;
  bool warm_ = false;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<StepSpike, Params>(
      {.id = "step_spike",
       .version = 6,
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
