// Steps that take far longer than the steps around them; see docs/rules/step_spike.md.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rules/format.h"
#include "rules/step_baseline.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"

namespace trainwatch::step_spike {
namespace {

using step_spike::Episode;
using step_spike::Params;
using step_spike::Spike;
using step_spike::StepBaseline;

constexpr double kWarningRatio = 3;  // a single spike below this many medians stays `info`
constexpr double kStandsOut = 2;     // times the average loss: not part of the rhythm
constexpr double kCovered = 0.5;     // of the lost time, to name input as the cause

enum class Pattern : std::uint8_t { single, periodic, repeated };

std::string_view name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::single:
      return "single";
    case Pattern::periodic:
      return "periodic";
    case Pattern::repeated:
      return "repeated";
  }
  return "single";
}

// "step 120", "eval step 120", "a step"
std::string step_text(const StepBaseline& baseline, std::int64_t step) {
  const bool plain = baseline.mode() == Mode::train || baseline.mode() == Mode::unknown;
  const std::string kind = plain ? "step" : std::string(to_string(baseline.mode())) + " step";
  return step == kNoStep ? "a " + kind : kind + " " + std::to_string(step);
}
std::string took_text(const Spike& spike) {
  return " took " + format::seconds(spike.seconds) + ", " + format::figure(spike.ratio()) +
         "x the median of " + format::seconds(spike.median);
}

Cause cause_of(const Spike& spike) {
  const double extra = spike.wait - spike.usual_wait;
  const double coverage = std::clamp(extra / spike.lost(), 0.0, 1.0);
  if (coverage < kCovered) return {};
  return {CauseName::input_wait,
          coverage,
          "The step waited " + format::seconds(spike.wait) + " for its input, " +
              format::seconds(extra) + " longer than usual.",
          {}};
}

class StepSpike final : public Rule {
 public:
  StepSpike(const Params& params, const RuleContext&) : params_(params) {}

  void on_step(const Step& step, Verdicts& out) override {
    if (step.duration < Nanos{}) return;
    StepBaseline& baseline = baseline_of(step);
    if (baseline.is_slow(to_seconds(step.duration))) {
      const Spike spike = baseline.add_slow(step, out.firings(baseline.key()) == 0);
      const View view = look(baseline, spike);
      out.fires({.key = baseline.key(),
                 .at = spike.end,
                 .severity = severity(view, baseline.episode().worst),
                 .recover_after = baseline.recovery_steps()},
                [&] { return describe(baseline, view); });
    } else {
      baseline.add_normal(step);
      out.clear(baseline.key(), step.end());
    }
  }

  void state(StateIo& io) override {
    auto count = static_cast<std::uint32_t>(baselines_.size());
    io(count);
    if (io.is_loading()) baselines_.clear();
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      Mode mode = io.is_loading() ? Mode{} : baselines_[i].mode();
      Origin origin = io.is_loading() ? Origin{} : baselines_[i].origin();
      io(mode);
      io(origin);
      if (mode >= Mode::count_ || origin > Origin::profiler) return io.fail();
      if (io.is_loading()) baselines_.emplace_back(params_, mode, origin);
      io(baselines_[i]);
    }
  }

  Lifecycle lifecycle() const override { return {.recover_after = params_.recovery_steps}; }
  bool warming() const override {
    return std::none_of(baselines_.begin(), baselines_.end(),
                        [](const StepBaseline& baseline) { return baseline.warm(); });
  }

 private:
  StepBaseline& baseline_of(const Step& step) {
    for (StepBaseline& baseline : baselines_) {
      if (baseline.mode() == step.mode && baseline.origin() == step.origin) return baseline;
    }
    return baselines_.emplace_back(params_, step.mode, step.origin);
  }

  // What the decision uses besides the spike itself.
  struct View {
    Pattern pattern = Pattern::single;
    std::int64_t period = 0;
    double lost_percent = 0;  // of the training time
    bool stands_out = false;  // the worst spike is far beyond the rhythm
    const Spike* shown = nullptr;
  };

  View look(const StepBaseline& baseline, const Spike& latest) const {
    const Episode& episode = baseline.episode();
    View view;
    view.period = baseline.period();
    if (view.period > 0) {
      view.pattern = Pattern::periodic;
      const double average = episode.lost / static_cast<double>(episode.spikes);
      view.lost_percent = 100 * average / (static_cast<double>(view.period) * latest.median);
      view.stands_out = episode.worst.lost() > kStandsOut * average;
      view.shown = view.stands_out ? &episode.worst : &latest;
      return view;
    }
    view.pattern = episode.spikes == 1 ? Pattern::single : Pattern::repeated;
    view.lost_percent =
        100 * baseline.lost_in_window() / (static_cast<double>(params_.window) * latest.median);
    view.shown = &episode.worst;
    return view;
  }

  Severity severity(const View& view, const Spike& worst) const {
    const bool serious = worst.lost() >= params_.warning_seconds && worst.ratio() >= kWarningRatio;
    const bool costly = view.lost_percent >= params_.warning_percent;
    bool warning = serious;
    if (view.pattern == Pattern::periodic) warning = costly || (serious && view.stands_out);
    if (view.pattern == Pattern::repeated) warning = costly || serious;
    return warning ? Severity::warning : Severity::info;
  }

  static std::string summary(const StepBaseline& baseline, const View& view) {
    const Episode& episode = baseline.episode();
    std::string subject = step_text(baseline, view.shown->step);
    if (view.pattern == Pattern::periodic) {
      return "Every " + format::ordinal(view.period) + " step is slow and costs " +
             format::percent(view.lost_percent) + " of the training time: " + subject +
             took_text(*view.shown) + ".";
    }
    if (view.pattern == Pattern::repeated) {
      return std::to_string(episode.spikes) + " slow steps since " +
             step_text(baseline, episode.first_step) + ": the worst, " + subject + "," +
             took_text(*view.shown) + ".";
    }
    subject[0] = static_cast<char>(subject[0] - 'a' + 'A');
    return subject + took_text(*view.shown) + ".";
  }

  static std::string evidence(const StepBaseline& baseline, const View& view) {
    const Spike& shown = *view.shown;
    JsonWriter json;
    json.begin_object().field("pattern", name_of(view.pattern));
    if (view.period > 0) json.field("period", view.period);
    json.field("spikes", baseline.episode().spikes);
    if (shown.step != kNoStep) json.field("step", shown.step);
    json.field("seconds", shown.seconds)
        .field("median_seconds", shown.median)
        .field("mad_seconds", shown.mad)
        .field("lost_seconds", shown.lost())
        .field("lost_percent", view.lost_percent)
        .field("data_wait_seconds", shown.wait)
        .field("usual_data_wait_seconds", shown.usual_wait)
        .field("mode", to_string(baseline.mode()))
        .field("origin", baseline.origin() == Origin::profiler ? "profiler" : "timeline");
    json.key("recent_steps").begin_array();
    for (const std::int64_t step : baseline.episode().recent) json.value(step);
    return json.end_array().end_object().take();
  }

  static std::string_view next(const View& view, const Cause& cause) {
    if (cause.name == CauseName::input_wait) {
      return "Look at the data loader: more workers, a longer prefetch queue or faster storage "
             "would hide this wait.";
    }
    if (view.pattern == Pattern::periodic) {
      return "Look for what the training loop does at this interval, such as a checkpoint, an "
             "evaluation or logging, and move it off the training thread or do it less often.";
    }
    return "Look at what happened on the node in this interval: other processes, storage, "
           "checkpoints, garbage collection, or a peer that arrived late.";
  }

  static Verdict describe(const StepBaseline& baseline, const View& view) {
    const Spike& shown = *view.shown;
    Verdict verdict;
    verdict.window_start = shown.start;
    verdict.window_end = shown.end;
    verdict.step = shown.step;
    verdict.value = shown.seconds;
    verdict.threshold = shown.threshold;
    verdict.baseline = shown.median;
    verdict.unit = "seconds";
    verdict.summary = summary(baseline, view);
    verdict.cause = cause_of(shown);
    verdict.evidence = evidence(baseline, view);
    verdict.next = next(view, verdict.cause);
    return verdict;
  }

  Params params_;
  std::vector<StepBaseline> baselines_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<StepSpike, Params>(
      {.id = "step_spike",
       .scope = Scope::rank,
       .summary = "A step takes far longer than the steps around it, once, repeatedly or at a "
                  "fixed interval.",
       .doc = "Per mode and writer: a step is slow when it exceeds both median + sigma x 1.4826 x "
              "MAD of the last `window` steps and `ratio` x median. Three slow steps at equal "
              "distances are periodic."},
      {field("window", &Params::window, 5, 10000, "Steps in the baseline."),
       field("sigma", &Params::sigma, 1, 100,
             "Robust standard deviations (1.4826 MAD) above the median that make a step slow."),
       field("ratio", &Params::ratio, 1, 100,
             "A slow step takes at least this many times the median."),
       field("warmup", &Params::warmup, 3, 10000, "Steps required before the first is evaluated."),
       field("warning_seconds", &Params::warning_seconds, 0, 86400,
             "A single slow step is a warning when it loses this much and takes 3x the median."),
       field("warning_percent", &Params::warning_percent, 0, 100,
             "Repeated slow steps are a warning when they cost this percentage of the time."),
       field("recovery_steps", &Params::recovery_steps, 1, 1000000,
             "Consecutive normal steps that end the alert; for a periodic one at least three "
             "periods.")});
  return spec;
}

}  // namespace trainwatch::step_spike
