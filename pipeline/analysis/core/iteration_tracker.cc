// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/iteration_tracker.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace trainwatch {
namespace {

constexpr std::string_view kIterationRows = "iterations/";
constexpr std::string_view kWaitingRows = "waiting_steps/";

}  // namespace

void IterationTracker::RecentWaits::add(const Span& wait, std::size_t most) {
  while (last.size() >= most) last.pop_front();
  last.push_back({wait.start, wait.end()}, most);
  newest_end = std::max(newest_end, wait.end());
}

Nanos IterationTracker::RecentWaits::within(Time start, Time end) const {
  constexpr std::size_t kOutOfOrder = 16;  // waits of one name come nearly in order
  Nanos total{};
  std::size_t before = 0;
  for (std::size_t age = 1; age <= last.size() && before < kOutOfOrder; ++age) {
    const Wait& wait = last[last.size() - age];
    if (wait.end <= start) {
      ++before;
      continue;
    }
    const Time from = std::max(wait.start, start);
    const Time to = std::min(wait.end, end);
    if (to > from) total += to - from;
  }
  return std::min(total, end - start);  // waits of several loaders may overlap
}

void IterationTracker::RecentWaits::state(StateIo& io) {
  io(name);
  io(last);
  io(newest_end);
  if (last.size() > kMostKept) io.fail();
}

void IterationTracker::Lane::state(StateIo& io) {
  io(waits);
  io(waiting);
  io(tracks);
  io(latest);
  io(process);
  io(process_before);
  io(attempt);
  io(evaluated_to);
  io(ended);
  io(without_waits);
  io(late_wait);
  io(work);
  io(changes);
  io(forward);
  io(backward);
  io(optimizer);
  if (latest >= Mode::count_ || tracks.size() > kModes || !(work > 0)) io.fail();
  if (changes.size() > kMostChanges) io.fail();
  if (waits.size() > kNames || without_waits > kWithoutWaits) io.fail();
  for (const auto& [mode, track] : tracks) {
    if (mode >= Mode::count_) io.fail();
  }
}

void IterationTracker::Lane::add_wait(const Span& wait, std::size_t most) {
  const auto known = std::ranges::find(waits, wait.name, &RecentWaits::name);
  if (known != waits.end()) return known->add(wait, most);
  if (waits.size() == kNames) return;
  waits.push_back({wait.name, {}, kNoTime});
  waits.back().add(wait, most);
}

// Whether steps that wait for their waits lose another sum than they had when they ended. With
// several names it is a question of which counts.
bool IterationTracker::Lane::changes_a_step(const Span& wait) const {
  return !waiting.empty() && (waits.size() > 1 || wait.start < waiting.newest_end());
}

// A name that has not come for long is of something else, such as the loader of an evaluation.
Nanos IterationTracker::Lane::waited(const Step& step) const {
  constexpr int kLately = 20;  // iterations
  std::optional<Nanos> least;
  for (const RecentWaits& named : waits) {
    if ((step.begin - named.newest_end) / kLately > step.iteration()) continue;
    const Nanos sum = named.within(step.begin, step.end());
    least = std::min(sum, least.value_or(sum));
  }
  return std::min(least.value_or(Nanos{}), step.iteration());
}

bool IterationTracker::Lane::waits_passed(Time time) const {
  return std::ranges::any_of(waits,
                             [time](const RecentWaits& named) { return named.newest_end > time; });
}

void IterationTracker::Lane::add_phase(const Span& phase) {
  const Nanos took = std::max(phase.duration, Nanos{});
  if (phase.kind == SpanKind::forward) forward += took;
  if (phase.kind == SpanKind::backward) backward += took;
  if (phase.kind == SpanKind::optimizer) optimizer += took;
}

// The numbers are back at the first one, and nothing says that the process was started again.
bool IterationTracker::Lane::begins_epoch(const Span& step) const {
  constexpr auto kPause = std::chrono::seconds(2);
  constexpr std::int64_t kIterations = 20;
  constexpr std::int64_t kMost = 100'000;
  const auto track = tracks.find(step.mode);
  if (track == tracks.end() || step.step == kNoStep) return false;
  const Track& known = track->second;
  const bool back = step.step < known.number && step.step <= known.first && known.end != kNoTime;
  const bool same = step.process == process || step.process < 0;
  // In the same process, an epoch may be followed by a pause of up to its own length.
  const std::int64_t epoch =
      step.process >= 0 ? std::clamp(known.number, kIterations, kMost) : kIterations;
  return back && same && step.start - ended <= std::max<Nanos>(kPause, known.iteration * epoch);
}

// A process that comes back is another rank with the same name, not a restart.
bool IterationTracker::Lane::restarts(const Span& step) const {
  const auto track = tracks.find(step.mode);
  if (track == tracks.end()) return false;
  const bool numbered = step.step != kNoStep && track->second.number != kNoStep;
  if (numbered && step.step < track->second.number && step.end() > track->second.end) {
    return !begins_epoch(step);
  }
  return step.process >= 0 && process >= 0 && step.process != process &&
         step.process != process_before;
}

void IterationTracker::Lane::begin_attempt() {
  ++attempt;
  evaluated_to = ended = kNoTime;
  for (auto& [mode, track] : tracks) {
    track.end = kNoTime;
    track.number = track.first = kNoStep;
    track.pace.begin_attempt();
  }
}

std::optional<Step> IterationTracker::on(const Span& span) {
  completed_.clear();  // keeps its memory
  const bool phase = span.kind == SpanKind::forward || span.kind == SpanKind::backward ||
                     span.kind == SpanKind::optimizer;
  const bool evaluation = span.kind == SpanKind::evaluation;
  if (!phase && !evaluation && span.kind != SpanKind::data_wait && span.kind != SpanKind::step) {
    return std::nullopt;
  }
  Lane& lane = lane_of(span);
  if (evaluation) {
    lane.evaluated_to = std::max(lane.evaluated_to, span.end());
    return std::nullopt;
  }
  if (phase) {
    lane.add_phase(span);
    return std::nullopt;
  }
  std::optional<Step> closed;
  if (span.kind == SpanKind::step) {
    const std::int64_t process = lane.process;
    closed = close(lane, span);
    if (lane.process != process) note_process({span.subject, span.origin}, lane);
    lane.waiting.push_back(*closed);
  } else {
    lane.add_wait(span, most_kept());
    lane.late_wait = lane.late_wait || lane.changes_a_step(span);
  }
  complete(lane, span.origin == Origin::profiler);  // whose waits come before their step
  return closed;
}

IterationTracker::Lane& IterationTracker::lane_of(const Span& span) {
  const Key key{span.subject, span.origin};
  if (latest_ == nullptr || latest_->first != key) latest_ = &*lanes_.try_emplace(key).first;
  changed_.add(*latest_);
  return latest_->second;
}

std::size_t IterationTracker::most_kept() const {
  return std::clamp(kKeptOfAll / std::max<std::size_t>(lanes_.size(), 1), kFewestKept, kMostKept);
}

void IterationTracker::complete(Lane& lane, bool all) {
  const std::size_t most = most_kept();
  while (!lane.waiting.empty()) {
    const bool in_time = lane.waiting.size() <= most && !lane.has_no_waits();
    if (!all && in_time && !lane.waits_passed(lane.waiting.oldest_end())) return;
    if (lane.waits.empty() && !lane.has_no_waits()) ++lane.without_waits;
    Step& step = completed_.emplace_back(lane.waiting.front());
    if (lane.late_wait) step.data_wait = lane.waited(step);
    lane.waiting.pop_front();
  }
  lane.late_wait = false;
}

void IterationTracker::on(const WorkChange& change, Time at,
                          const std::function<bool(SubjectId)>& is_one) {
  for (auto& entry : lanes_) {
    if (!is_one(entry.first.first)) continue;
    changed_.add(entry);
    RingQueue<DatedChange>& changes = entry.second.changes;
    if (changes.size() == kMostChanges) changes.pop_front();
    changes.push_back({at, change}, kMostChanges);
  }
}

// The files of some ranks are read ahead of others, so each takes a change when its steps are
// there.
void IterationTracker::Lane::change_work(Time until) {
  for (; !changes.empty() && changes.front().at <= until; changes.pop_front()) {
    const WorkChange& change = changes.front().change;
    work = change.ratio;
    if (!change.begins) continue;
    for (auto& [mode, track] : tracks) track.pace.forget();
  }
}

void IterationTracker::finish() {
  completed_.clear();
  for (auto& entry : lanes_) {
    Lane& lane = entry.second;
    if (!lane.waiting.empty()) changed_.add(entry);
    complete(lane, true);
  }
}

void IterationTracker::each_without_waits(const TakeSteps& take) const {
  std::vector<Step> steps;
  WaitingSteps rest;
  std::size_t found = 0;
  for (const auto& [key, lane] : lanes_) {
    if (!lane.waits.empty() || lane.waiting.empty() || found >= kKeptOfAll) continue;
    steps.clear();
    for (rest = lane.waiting; !rest.empty(); rest.pop_front()) steps.push_back(rest.front());
    take(steps);
    found += steps.size();
  }
}

void IterationTracker::save(StateRows& rows, bool all) {
  const auto row_of = [](std::string_view prefix, const Key& key) {
    return id_row(prefix, key.first)
        .append("/")
        .append(std::to_string(static_cast<unsigned>(key.second)));
  };
  changed_.take(lanes_, all, [&](auto& entry) {
    rows.put(row_of(kIterationRows, entry.first), [&entry, key = entry.first](StateIo& io) mutable {
      io(key);
      io(entry.second);
    });
    entry.second.waiting.save(rows, row_of(kWaitingRows, entry.first).append("/"), all);
  });
}

bool IterationTracker::load(const SavedState& saved) {
  const auto load_lane = [&](std::string_view, std::string_view value) {
    StateIo io = saved.open(value);
    Key key;
    io(key);
    if (io.take_gone()) return true;
    if (!io.ok() || key.second > Origin::profiler) return false;
    Lane& lane = lanes_[key];
    io(lane);
    note_process(key, lane);
    return io.complete();
  };
  const auto load_steps = [&](std::string_view, std::string_view value) {
    StateIo io = saved.open(value);
    const WaitingSteps::Row row = WaitingSteps::load_row(io);
    if (io.complete() && row.steps.empty()) return true;  // the subject is gone
    if (!io.complete()) return false;
    const auto lane = lanes_.find({row.subject, row.steps.front().origin});
    return lane != lanes_.end() && lane->second.waiting.add(row) &&
           lane->second.waiting.size() <= kMostKept;
  };
  return for_rows(saved, kIterationRows, load_lane) && for_rows(saved, kWaitingRows, load_steps) &&
         std::ranges::all_of(lanes_,
                             [](const auto& lane) { return lane.second.waiting.all_loaded(); });
}

void IterationTracker::note_process(const Key& key, const Lane& lane) {
  if (key.second == Origin::timeline && lane.process >= 0) processes_[key.first] = lane.process;
}

std::uint32_t IterationTracker::attempt(SubjectId rank) const {
  const auto lane = lanes_.find({rank, Origin::timeline});
  return lane == lanes_.end() ? 0 : lane->second.attempt;
}

Time IterationTracker::read_to(SubjectId rank) const {
  const auto lane = lanes_.find({rank, Origin::timeline});
  return lane == lanes_.end() ? kNoTime : lane->second.ended;
}

Step IterationTracker::close(Lane& lane, const Span& span) {
  const bool restarts = lane.restarts(span);
  if (restarts) lane.begin_attempt();
  if (span.process >= 0 && span.process != lane.process) {
    lane.process_before = lane.process;
    lane.process = span.process;
  }
  Track& track = lane.tracks[span.mode];
  Step step;
  step.start = span.start;
  step.duration = std::max(span.duration, Nanos{});
  step.number = span.step;
  step.subject = span.subject;
  step.mode = span.mode;
  step.origin = span.origin;
  step.attempt = lane.attempt;
  step.opens_attempt = track.end == kNoTime;
  step.restarts = restarts;
  step.opens_epoch = lane.begins_epoch(span);
  step.forward = std::exchange(lane.forward, Nanos{});
  step.backward = std::exchange(lane.backward, Nanos{});
  step.optimizer = std::exchange(lane.optimizer, Nanos{});

  const bool returns = lane.latest != span.mode && !step.opens_attempt;
  const bool trains = span.mode == Mode::train || span.mode == Mode::unknown;
  // What overlaps the step before it, or lies before it, is an iteration of its own. An evaluation
  // begins with its first step. A profiler skips steps between those that it records.
  const bool follows = !step.opens_attempt && track.end < step.end() && (trains || !returns) &&
                       span.origin == Origin::timeline;
  step.begin = follows ? std::min(track.end, step.end()) : step.start;
  if (follows && lane.evaluated_to > track.end) {
    step.evaluation = std::min(lane.evaluated_to, step.end()) - track.end;
  }
  step.data_wait = lane.waited(step);
  lane.latest = span.mode;
  if (!trains) lane.evaluated_to = std::max(lane.evaluated_to, step.end());
  track.end = std::max(track.end, step.end());
  track.number = span.step;
  if (step.opens_attempt) track.first = span.step;
  track.iteration = step.iteration();
  lane.ended = std::max(lane.ended, step.end());
  lane.change_work(step.end());
  step.pace = track.pace.add(step, trains ? lane.work : 1);
  return step;
}

}  // namespace trainwatch
