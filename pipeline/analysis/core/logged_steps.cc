// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/logged_steps.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace trainwatch {
namespace {

constexpr std::string_view kLoggedStepRows = "logged_steps/";
// Seconds of an iteration, and of an interval.
constexpr double kLongest = 1e8;

// After so many steps without the clock, another tag becomes the clock.
constexpr std::uint32_t kAbsent = 3;

bool is_seconds(double value) {
  return value > 0 && value <= kLongest;
}

}  // namespace

void LoggedSteps::Figure::state(StateIo& io) {
  io(step);
  io(seconds);
  if (!(seconds >= 0 && seconds <= kLongest)) io.fail();
}

void LoggedSteps::Lane::state(StateIo& io) {
  io(clock);
  io(source);
  io(file);
  io(of_epochs);
  io(without);
  io(without_step);
  io(iteration);
  io(span);
  io(wait);
  io(at);
  io(timed);
  io(number);
  io(total);
  io(end);
  io(attempt);
  io(restarted);
  io(first);
  io(steps);
  io(interval);
  io(epoch);
  io(epoch_began);
  io(epoch_steps);
  io(number_before);
  io(pace);
  io(work);
  io(stages);
  io(launched);
  io(waiting);
  io(held);
  io(guessed);
  io(elapsed);
  if (source >= Source::count_ || span < 0 || !is_possible(at) || !is_possible(end)) io.fail();
}

std::optional<Step> LoggedSteps::on(const Scalar& scalar) {
  completed_.clear();  // keeps its memory
  work_change_.reset();
  if (scalar.step < 0) return std::nullopt;
  Lane* const lane = lane_of(scalar.subject);
  if (lane == nullptr) return std::nullopt;
  lane->work.on(scalar);
  if (lane->stages.on(scalar)) work_change_ = lane->stages.change();
  if (work_change_ && work_change_->begins) lane->pace.forget();
  if (scalar.kind == ScalarKind::total_steps) {
    if (scalar.of_epoch && lane->source != Source::none && !lane->of_epochs) return std::nullopt;
    lane->total = scalar.value > 0 ? scalar.value : 0;
    lane->changed = true;
  } else if (scalar.kind == ScalarKind::data_seconds && scalar.value >= 0 &&
             scalar.value <= kLongest) {
    lane->wait = {scalar.step, scalar.value};
    lane->changed = true;
    if (lane->waiting && lane->waiting->number == scalar.step) {
      lane->waiting->data_wait = std::min(from_seconds(scalar.value), lane->waiting->iteration());
    }
    lane->held.waited(scalar.step, from_seconds(scalar.value));
  } else if (lane->guessed = lane->guessed || scalar.guessed; is_clock(*lane, scalar)) {
    if (lane->waiting && lane->waiting->number != scalar.step) complete(*lane);
    read_clock(*lane, scalar);
  }
  if (!scalar.ends_record) return std::nullopt;
  note_without(*lane, scalar);
  if (lane->iteration.step != scalar.step) return std::nullopt;
  return close(*lane, scalar.subject);
}

void LoggedSteps::launched(SubjectId subject) {
  const std::string& job = interner_.subjects[subject].job;
  for (auto& [rank, lane] : lanes_) {
    if (lane.number == kNoStep || interner_.subjects[rank].job != job) continue;
    lane.launched = lane.changed = true;
  }
}

// Counts the steps whose records lack the clock. A step may have several records.
void LoggedSteps::note_without(Lane& lane, const Scalar& scalar) {
  if (scalar.step <= lane.iteration.step) {
    lane.without = 0;
  } else if (scalar.lane == lane.file && scalar.step > lane.without_step) {
    ++lane.without;
    lane.without_step = scalar.step;
  }
}

LoggedSteps::Lane* LoggedSteps::lane_of(SubjectId subject) {
  const auto known = lanes_.find(subject);
  if (known != lanes_.end()) return &known->second;
  return lanes_.size() < kMost ? &lanes_[subject] : nullptr;
}

LoggedSteps::Source LoggedSteps::source_of(const Scalar& scalar) const {
  // Of epochs where something finer is counted, too.
  const std::string_view tag = interner_.text(scalar.tag);
  const bool takes_time = scalar.kind == ScalarKind::step_seconds;
  if (tag.starts_with(takes_time ? "epoch/" : "epoch")) return Source::none;
  switch (scalar.kind) {
    case ScalarKind::step_seconds:
    case ScalarKind::steps_per_second:
      return Source::durations;
    case ScalarKind::elapsed_seconds:
      return Source::elapsed;
    case ScalarKind::loss:
      return scalar.timed ? Source::times : Source::numbers;
    case ScalarKind::learning_rate:
    case ScalarKind::samples_per_second:
    case ScalarKind::tokens_per_second:
      return scalar.timed ? Source::rates : Source::none;
    case ScalarKind::other:
      if (!scalar.guessed) return Source::none;
      return scalar.timed ? Source::rates : Source::numbers;
    default:
      return Source::none;
  }
}

bool LoggedSteps::is_better(const Lane& lane, const Scalar& scalar, Source source) {
  if (source == Source::none || lane.source == Source::none) return source > lane.source;
  if (scalar.of_epoch != lane.of_epochs) return lane.of_epochs;
  return source > lane.source;
}

// `scalar` is of another file than the clock.
bool LoggedSteps::takes_over(const Lane& lane, const Scalar& scalar, Source source) {
  if (source == Source::none) return false;
  if (lane.number == kNoStep && lane.held.empty()) return is_better(lane, scalar, source);
  if (is_weak(scalar, source) != lane.is_weak()) return lane.is_weak();
  constexpr Nanos kPause = std::chrono::seconds(2);
  constexpr int kIntervals = 3;
  const Nanos pause = std::max(kPause, lane.interval * kIntervals);
  const bool silent = lane.end != kNoTime && scalar.at > lane.end + pause;
  return silent || (scalar.step > lane.number && is_better(lane, scalar, source));
}

// A better clock than the one so far takes over, and what is usual is learned anew.
bool LoggedSteps::is_clock(Lane& lane, const Scalar& scalar) const {
  const Source source = source_of(scalar);
  const bool other = lane.source != Source::none && scalar.lane != lane.file;
  if (other && !takes_over(lane, scalar, source)) return false;
  // A value named just "time" turned out not to be the time since the beginning.
  const bool lost = !other && lane.clock == scalar.tag && lane.source == Source::elapsed &&
                    source < lane.source && source != Source::none;
  const bool absent = !other && lane.without >= kAbsent && lane.clock != scalar.tag &&
                      source != Source::none && scalar.of_epoch == lane.of_epochs;
  if (!other && !lost && !absent && !is_better(lane, scalar, source)) {
    return lane.source != Source::none && lane.clock == scalar.tag;
  }
  if (other && lane.is_weak() && !is_weak(scalar, source)) lane.forget_steps();
  lane.clock = scalar.tag;
  lane.source = source;
  lane.file = scalar.lane;
  lane.of_epochs = scalar.of_epoch;
  lane.iteration = {};
  lane.at = kNoTime;
  lane.elapsed = 0;
  lane.pace.forget();
  return true;
}

// How long one of the `span` steps since the record before took. 0: it does not say.
double LoggedSteps::seconds_of(Lane& lane, const Scalar& scalar, std::int64_t span, Nanos since) {
  if (lane.source == Source::durations) {
    return scalar.kind == ScalarKind::steps_per_second ? 1 / scalar.value : scalar.value;
  }
  const double elapsed = lane.elapsed;
  if (lane.source == Source::elapsed) lane.elapsed = scalar.value;
  if (span == 0 || lane.source == Source::numbers) return 0;
  const double seconds =
      lane.source == Source::elapsed ? scalar.value - elapsed : to_seconds(since);
  return seconds / static_cast<double>(span);
}

void LoggedSteps::read_clock(Lane& lane, const Scalar& scalar) {
  // Another rank in the same log repeats the step: the first record says when it ended.
  const bool again = scalar.step == lane.iteration.step && lane.at != kNoTime;
  if (again && lane.source != Source::durations) return;
  lane.changed = true;
  const Time before = std::exchange(lane.at, scalar.at);
  const std::int64_t last = std::exchange(lane.iteration.step, scalar.step);
  lane.timed = scalar.timed;
  const bool again_from_here = std::exchange(lane.launched, false) && scalar.step > lane.number;
  if (again_from_here) {
    lane.number_before = lane.number;
    lane.number = kNoStep;
    ++lane.attempt;
    lane.restarted = true;
    lane.epoch_began = scalar.at;
  }
  const bool follows =
      before != kNoTime && last != kNoStep && scalar.step > last && !again_from_here;
  lane.span = follows ? scalar.step - last : 0;
  const Nanos since = follows ? scalar.at - before : Nanos{};
  const double seconds = seconds_of(lane, scalar, lane.span, since);
  lane.iteration.seconds = is_seconds(seconds) ? seconds : 0;
  if (lane.epoch_began == kNoTime) lane.epoch_began = scalar.at;
  if (lane.number != kNoStep && scalar.step + 1 < lane.number) {
    lane.number_before = lane.number;
    lane.number = kNoStep;
    lane.epoch = lane.begins_epoch(scalar, before);
    lane.epoch_steps = lane.number_before;
    if (lane.epoch) {
      // The pause at the end of the epoch is part of this iteration.
      const double paused = to_seconds(scalar.at - before);
      if (lane.source == Source::times && is_seconds(paused)) lane.iteration.seconds = paused;
      lane.epoch_began = scalar.at;
      return;
    }
    lane.epoch_began = scalar.at;
    ++lane.attempt;
    lane.restarted = true;
  }
}

// Drops the steps of a weak clock, as the account does.
void LoggedSteps::Lane::forget_steps() {
  held = {};
  waiting.reset();
  end = kNoTime;
  restarted = restarted || number != kNoStep;
  attempt += number != kNoStep ? 1 : 0;
  number = kNoStep;
}

bool LoggedSteps::Lane::begins_epoch(const Scalar& scalar, Time before) const {
  constexpr auto kPause = std::chrono::seconds(2);
  constexpr int kIntervals = 5;
  constexpr auto kFirstPause = std::chrono::seconds(20);
  if (!scalar.timed || before == kNoTime || scalar.at <= before || scalar.step > first)
    return false;
  // Once two epochs had the same length, a pause may be as long as an epoch.
  const bool as_before = epoch_steps > 0 && number_before == epoch_steps;
  const Nanos lasted = epoch_began == kNoTime ? Nanos{} : before - epoch_began;
  const Nanos longest = as_before ? lasted : std::min<Nanos>(lasted, kFirstPause);
  return scalar.at - before <= std::max({Nanos{kPause}, interval * kIntervals, longest});
}

std::optional<Step> LoggedSteps::close(Lane& lane, SubjectId subject) {
  const Figure read = lane.iteration;
  const bool lasts = read.seconds != 0 || lane.source == Source::numbers;
  if (!lasts || read.step <= lane.number) return std::nullopt;
  const double span_of_record = static_cast<double>(std::max<std::int64_t>(lane.span, 1));
  const double work = work_of(lane, read.seconds, span_of_record);
  Step step;
  step.restarts = std::exchange(lane.restarted, false);
  step.opens_epoch = std::exchange(lane.epoch, false);
  step.opens_attempt = lane.number == kNoStep && !step.opens_epoch;
  step.number = read.step;
  step.subject = subject;
  step.mode = Mode::train;
  step.origin = Origin::log;
  step.attempt = lane.attempt;
  step.weak = lane.is_weak();
  step.resized = lane.stages.change().ratio != 1;
  std::int64_t span = step.opens_attempt ? lane.span : read.step - lane.number;
  if (step.opens_epoch) span = lane.steps;
  if (span > 1) {
    const double most = std::clamp(kLongest / std::max(read.seconds, 0.1), 1.0, 1e9);
    step.steps = static_cast<std::uint32_t>(std::min(static_cast<double>(span), most));
  }
  step.duration = from_seconds(read.seconds);
  if (lane.wait.step == read.step) {
    step.data_wait = std::min(from_seconds(lane.wait.seconds), step.duration);
  }
  lane.number = read.step;
  if (step.opens_attempt) lane.first = read.step;
  lane.steps = step.steps;
  lane.interval = step.duration * step.steps;
  lane.changed = true;
  if (!lane.timed || !lane.held.empty()) {
    const std::size_t share = kMostHeld / std::bit_ceil(lanes_.size());
    lane.held.add(step, lane.at, std::max<std::size_t>(share, 2));
    return std::nullopt;
  }
  const Time begun = Time{} + step.duration * step.steps;  // in 1970 at the earliest
  step.start = step.begin = std::max(lane.at, begun) - step.duration;
  step.pace = pace_of(lane, step, work);
  lane.waiting = step;
  return step;
}

double LoggedSteps::work_of(Lane& lane, double seconds, double steps) {
  const double work = lane.work.end_record(seconds, steps);
  return work != 1 ? work : lane.stages.change().ratio;
}

Pace LoggedSteps::pace_of(Lane& lane, const Step& step, double work) {
  lane.end = std::max(lane.end, step.end());
  if (step.restarts) lane.pace.begin_attempt();
  return lane.pace.add(step, work);
}

std::vector<Step> LoggedSteps::read_to_end(SubjectId subject) {
  const auto known = lanes_.find(subject);
  if (known == lanes_.end() || known->second.held.empty()) return {};
  Lane& lane = known->second;
  std::vector<Step> steps = lane.held.take(lane.end);
  for (Step& step : steps) step.pace = pace_of(lane, step, 1);
  lane.waiting = steps.back();
  lane.changed = true;
  return steps;
}

std::vector<SubjectId> LoggedSteps::holding() const {
  std::vector<SubjectId> found;
  for (const auto& [subject, lane] : lanes_) {
    if (!lane.held.empty()) found.push_back(subject);
  }
  return found;
}

bool LoggedSteps::is_last(const Step& step) const {
  const auto lane = lanes_.find(step.subject);
  return lane != lanes_.end() && lane->second.total > 0 &&
         static_cast<double>(step.number) >= lane->second.total;
}

bool LoggedSteps::is_guessed(SubjectId subject) const {
  const auto known = lanes_.find(subject);
  if (known != lanes_.end()) return known->second.guessed;
  const Subject& job = interner_.subjects[subject];
  return job.rank == kNoRank && std::ranges::any_of(lanes_, [&](const auto& entry) {
           return entry.second.guessed && interner_.subjects[entry.first].job == job.job;
         });
}

void LoggedSteps::complete(Lane& lane) {
  if (!lane.waiting) return;
  completed_.push_back(*lane.waiting);
  lane.waiting.reset();
  lane.changed = true;
}

void LoggedSteps::finish() {
  completed_.clear();
  for (auto& [subject, lane] : lanes_) complete(lane);
}

void LoggedSteps::save(StateRows& rows, bool all) {
  for (auto& [subject, lane] : lanes_) {
    if (!all && !std::exchange(lane.changed, false)) continue;
    lane.changed = false;
    rows.put(id_row(kLoggedStepRows, subject),
             [subject = subject, &lane = lane](StateIo& io) mutable {
               io(subject);
               io(lane);
             });
  }
}

bool LoggedSteps::load(const SavedState& saved) {
  return for_rows(saved, kLoggedStepRows, [&](std::string_view, std::string_view value) {
    StateIo io = saved.open(value);
    SubjectId subject = SubjectId::none;
    io(subject);
    if (io.take_gone()) return true;
    if (!io.ok()) return false;
    io(lanes_[subject]);
    return io.complete();
  });
}

}  // namespace trainwatch
