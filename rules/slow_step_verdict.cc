// SPDX-License-Identifier: Apache-2.0
#include "rules/slow_step_verdict.h"

#include <algorithm>
#include <string>

#include "rules/format.h"
#include "trainwatch/json_writer.h"

namespace trainwatch::step_spike {
namespace {

constexpr double kCovered = 0.5;  // of the lost time, to name a cause
constexpr double kHidden = 0.25;  // of an iteration, between two steps

std::string step_text(const Track& track, std::int64_t step) {
  const bool plain = track.mode == Mode::train || track.mode == Mode::unknown;
  const std::string kind = plain ? "step" : std::string(to_string(track.mode)) + " step";
  return step == kNoStep ? "a " + kind : kind + " " + std::to_string(step);
}
std::string took_text(const Spike& spike) {
  return " took " + format::seconds(spike.seconds) + " instead of " + format::seconds(spike.usual);
}

Cause cause_of(const Spike& spike) {
  const double waited = spike.waited();
  const double paused = spike.paused();
  const auto covers = [&](double seconds) { return std::clamp(seconds / spike.lost(), 0.0, 1.0); };
  if (covers(spike.checkpoint) >= kCovered) {
    return {CauseName::checkpoint,
            covers(spike.checkpoint),
            "Writing a checkpoint took " + format::seconds(spike.checkpoint) + ".",
            {}};
  }
  if (covers(waited) >= kCovered) {
    return {CauseName::input_wait,
            covers(waited),
            "It waited " + format::seconds(spike.wait) + " for its input, " +
                format::seconds(waited) + " longer than usual.",
            {}};
  }
  const double outside = spike.outside - spike.usual_outside;
  if (covers(outside) >= kCovered) {
    return {CauseName::host_pause,
            covers(outside),
            format::seconds(outside) + " of " + format::seconds(spike.lost()) +
                " were lost outside Forward, Backward and Optimizer.",
            {}};
  }
  // Where computation lies between two steps, as the writer's step is the forward pass, it may have
  // been that.
  const bool hides_computation = spike.usual_between >= kHidden * spike.usual;
  if (!hides_computation && covers(paused) >= kCovered) {
    return {CauseName::host_pause,
            covers(paused),
            format::seconds(spike.between) + " passed between the step before and this one, " +
                format::seconds(paused) + " more than usual.",
            {}};
  }
  return {};
}

void write(JsonWriter& json, const Spike& shown) {
  if (shown.step != kNoStep) json.field("step", shown.step);
  json.field("seconds", shown.seconds)
      .field("usual_seconds", shown.usual)
      .field("limit_seconds", shown.limit)
      .field("data_wait_seconds", shown.wait)
      .field("usual_data_wait_seconds", shown.usual_wait)
      .field("between_steps_seconds", shown.between)
      .field("usual_between_steps_seconds", shown.usual_between);
}

Verdict described(const Spike& shown) {
  Verdict verdict;
  verdict.window_start = shown.start;
  verdict.window_end = shown.end;
  verdict.step = shown.step;
  verdict.value = shown.seconds;
  verdict.threshold = shown.limit;
  verdict.baseline = shown.usual;
  verdict.unit = "seconds";
  verdict.window_lost_seconds = shown.lost();
  verdict.cause = cause_of(shown);
  // What was not lost before the step was lost in it, at the latest by its end.
  const bool known = verdict.cause.name != CauseName::unattributed;
  verdict.since = known ? shown.start : shown.end - from_seconds(shown.lost());
  return verdict;
}

std::string summary(const Track& track) {
  const Episode& episode = track.episode;
  std::string worst = step_text(track, episode.worst.step) + took_text(episode.worst);
  if (episode.spikes > 1) {
    return std::to_string(episode.spikes) + " slow steps since " +
           step_text(track, episode.first_step) + " cost " + format::seconds(episode.lost) +
           ": the worst, " + worst + ".";
  }
  worst[0] = static_cast<char>(worst[0] - 'a' + 'A');
  return worst + ", " + format::figure(episode.worst.ratio()) +
         "x as long: " + format::seconds(episode.worst.lost()) + " lost.";
}

}  // namespace

Verdict describe_rhythm(const Track& track) {
  const Rhythm& rhythm = track.rhythm;
  const std::int64_t period = rhythm.detector.period();
  Verdict verdict = described(rhythm.latest);
  verdict.since = rhythm.since;
  verdict.lost_seconds = rhythm.lost;
  verdict.summary = "Every " + format::ordinal(period) + " step is slow and costs " +
                    format::percent(100 * rhythm.share()) +
                    " of the training time: " + step_text(track, rhythm.latest.step) +
                    took_text(rhythm.latest) + format::saving(rhythm.share()) + ".";
  JsonWriter json;
  json.begin_object()
      .field("pattern", "periodic")
      .field("period", period)
      .field("spikes", rhythm.hits)
      .field("lost_percent", 100 * rhythm.share())
      .field("lost_seconds", rhythm.lost);
  write(json, rhythm.latest);
  json.field("mode", to_string(track.mode)).field("origin", to_string(track.origin));
  verdict.evidence = json.end_object().take();
  verdict.next =
      "Look for what the training loop does at this interval, such as a checkpoint, an "
      "evaluation or logging, and move it off the training thread or do it less often.";
  return verdict;
}

Verdict describe_frequent(const Track& track, const Step& step) {
  const SlowShare& frequent = track.frequent;
  const double seconds = std::max(to_seconds(step.end() - frequent.since()), 0.0);
  Verdict verdict;
  verdict.window_start = verdict.since = frequent.since();
  verdict.window_end = step.end();
  verdict.step = step.number;
  verdict.by_step = true;
  verdict.lost_seconds = verdict.window_lost_seconds = std::min(frequent.lost(), seconds);
  verdict.value = 100 * frequent.share();
  verdict.unit = "percent";
  verdict.summary = std::to_string(frequent.records()) + " records of the log since step " +
                    std::to_string(frequent.since_step()) + " show slow steps, and cost " +
                    format::seconds(verdict.lost_seconds) + " of " + format::seconds(seconds) +
                    "; lately " + format::percent(verdict.value) + " of the time" +
                    format::saving(frequent.share()) + ".";
  JsonWriter json;
  json.begin_object()
      .field("pattern", "frequent")
      .field("spikes", frequent.records())
      .field("lost_percent", verdict.value)
      .field("lost_seconds", verdict.lost_seconds)
      .field("usual_seconds", step.pace.usual)
      .field("mode", to_string(track.mode))
      .field("origin", to_string(track.origin));
  verdict.evidence = json.end_object().take();
  verdict.next =
      "Look at what happens on the node in these steps: the data loader, storage, other processes, "
      "memory, recompilation, or a peer that arrives late.";
  return verdict;
}

Verdict describe_episode(const Track& track) {
  const Episode& episode = track.episode;
  Verdict verdict = described(episode.worst);
  verdict.lost_seconds = episode.lost;
  verdict.by_step = track.origin == Origin::log;
  verdict.summary = summary(track);
  JsonWriter json;
  json.begin_object()
      .field("pattern", episode.spikes > 1 ? "repeated" : "single")
      .field("spikes", episode.spikes)
      .field("lost_percent", 100 * episode.lost_share(episode.latest_end))
      .field("lost_seconds", episode.lost);
  write(json, episode.worst);
  json.field("mode", to_string(track.mode)).field("origin", to_string(track.origin));
  json.key("recent_steps").begin_array();
  for (const std::int64_t step : episode.recent) json.value(step);
  verdict.evidence = json.end_array().end_object().take();
  verdict.next =
      verdict.cause.name == CauseName::input_wait
          ? "Look at the data loader: more workers, a longer prefetch queue or faster storage "
            "would hide this wait."
          : "Look at what happened on the node in this interval: other processes, storage, "
            "checkpoints, garbage collection, or a peer that arrived late.";
  return verdict;
}

}  // namespace trainwatch::step_spike
