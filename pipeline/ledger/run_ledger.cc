// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ledger/run_ledger.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "trainwatch/stats/median.h"

namespace trainwatch {
namespace {

constexpr auto kGrace = std::chrono::seconds(10);  // between which the ranks of an attempt begin
constexpr auto kSameProcess = std::chrono::seconds(1);  // its files say when it began, about
constexpr auto kWholeSecond = std::chrono::seconds(1);  // what schedulers write
constexpr auto kVanishedAfter = std::chrono::seconds(2);
constexpr std::uint32_t kBookedAfter = 10;  // seconds from the next attempt's first evidence on
constexpr std::size_t kEnds = 128;          // of steps
constexpr std::size_t kFiles = 64;
constexpr std::size_t kRegimes = 16;
constexpr std::size_t kMostBooked = 16'384;
constexpr std::size_t kMostWork = 4096;
constexpr std::size_t kMostOpenAttempts = 32;  // of which not all ranks have left
constexpr double kSlow = 0.2;                  // of the last minute
constexpr double kSlowSeconds = 60;
constexpr double kSlowKnown = 0.15;  // of it: ten seconds
constexpr std::uint32_t kRateSteps = 10;
constexpr Nanos kLongestRun = std::chrono::hours(24 * 366);
constexpr std::int64_t kMostPassedOver = 1'000'000;

SpentTime down_between(Time from, Time to) {
  SpentTime down{from, to, {}};
  down.parts[LifePart::down] = seconds_between(from, to);
  return down;
}

SpentTime spent_until(Time to, const PartSeconds& parts) {
  return {to - from_seconds(parts.total()), to, parts};
}

// The first iteration of an attempt has what was before it.
SpentTime take_start(JobIterations::Booked& first) {
  SpentTime start{first.from, first.from, {}};
  double before = first.parts.total() - seconds_between(first.from, first.to);
  for (const LifePart part : {LifePart::restore, LifePart::startup}) {
    start.parts[part] = std::clamp(before, 0.0, first.parts[part]);
    before -= start.parts[part];
    first.parts[part] -= start.parts[part];
  }
  return spent_until(first.from, start.parts);
}

}  // namespace

std::string_view to_string(LifeState state) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(LifeState::count_)> kNames = {
      "starting", "running", "slow", "stalled", "finished", "failed", "cancelled", "gone"};
  return kNames[static_cast<std::size_t>(state)];
}

Time RunLedger::now(const Clock& clock) const {
  return clock.now == kNoTime ? latest_ : std::max(clock.now - behind_, latest_);
}

// If the times in a file are those of another day than it was written on, its writer's clock is
// wrong, somebody plays an old job, or the file is a copy.
void RunLedger::read(Time written, const Clock& clock) {
  if (latest_ == std::exchange(latest_read_, latest_)) return;
  behind_ = written - latest_ > kGoneAfter ? written - latest_ : Nanos{};
  if (!first_read_) first_read_ = clock.second;
  grows_ = grows_ || clock.second != *first_read_;
}

// All that there is of it was there when it was found, and is of another day: until there is more,
// it is the copy of a log.
bool RunLedger::is_old_log() const {
  return origin_ == Origin::log && behind_ > Nanos{} && !grows_;
}

RunLedger::Place RunLedger::find(SubjectId rank) {
  for (auto attempt = attempts_.rbegin(); attempt != attempts_.rend(); ++attempt) {
    if (Attempt::Rank* const known = attempt->find(rank)) return {&*attempt, known};
  }
  return {};
}

Attempt& RunLedger::begin_attempt(Time at, std::uint32_t world, const Clock& clock) {
  if (!attempts_.empty()) {
    Attempt& before = attempts_.back();
    if (before.finalized) at = std::max(at, before.info.ended);
    if (world == 0) world = before.info.ranks;
    if (before.finalized) {
      book(down_between(before.info.ended, at), std::max(before.info.ranks, before.seen_ranks()));
    }
  } else {
    began_ = at;
  }
  reported_over_ = false;
  stages_.begin_attempt();
  attempts_.emplace_back(static_cast<std::uint32_t>(++begun_), at, world);
  attempts_.back().opened = clock.second;
  latest_ = std::max(latest_, at);
  return attempts_.back();
}

// The rank goes over to the next attempt, which another may have begun.
RunLedger::Place RunLedger::move_on(const Writer& writer, Time at, std::uint32_t world,
                                    const Clock& clock) {
  const Place old = find(writer.rank);
  Attempt* next = nullptr;
  for (Attempt& attempt : attempts_) {
    const bool later = old.attempt == nullptr || attempt.info.number > old.attempt->info.number;
    if (!later || attempt.finalized) continue;
    if (next == nullptr || attempt.info.began <= at + kGrace) next = &attempt;
  }
  if (old.attempt != nullptr && old.rank != nullptr && !old.rank->ended) {
    old.attempt->leave(*old.rank);
    old.rank->ended = true;
  }
  if (next == nullptr) next = &begin_attempt(at, world, clock);
  begin_by(*next, at);
  next->info.ranks = std::max(next->info.ranks, world);
  next->saw(at);
  return {next, &next->join(writer.rank, writer.place, at)};
}

// Files are read in any order: the run began with its earliest evidence, as far as nothing is
// booked.
void RunLedger::begin_by(Attempt& attempt, Time at, Nanos most) {
  const bool open = begun_ == 1 && &attempts_.front() == &attempt && attempt.cut() == kNoTime;
  if (!open || at >= attempt.info.began || attempt.info.began - at > most) return;
  attempt.info.began = began_ = at;
}

// A launcher's clock may be ahead of that of its job's log, as one of another zone is: an attempt
// whose first record was written before it was launched began with that.
void RunLedger::begin_before_launch(Attempt& attempt, const Step& first, Time at) {
  const bool before = first.origin == Origin::log && first.end() < attempt.info.began &&
                      attempt.info.began - first.end() < kGoneAfter;
  const std::size_t place = place_of(attempt);
  if (!before || attempt.has_steps() || place == 0) return;
  const Attempt& last = attempts_[place - 1];
  if (!last.finalized && first.end() >= last.evidence)
    attempt.info.began = std::max(at, last.evidence);
}

// Where what the rank says at this time belongs.
RunLedger::Place RunLedger::place_of(const Writer& writer, Time at, const Clock& clock) {
  const Place known = find(writer.rank);
  if (known.rank == nullptr) return move_on(writer, at, 0, clock);
  begin_by(*known.attempt, at);
  return known;
}

void RunLedger::process_began(const Writer& writer, const RunNote& note, const Clock& clock) {
  const Place known = find(writer.rank);
  const bool same = known.rank != nullptr &&
                    (note.at <= known.rank->activity || note.at - known.rank->began < kSameProcess);
  if (same) {
    known.attempt->info.ranks = std::max(known.attempt->info.ranks, note.world_size);
    return;  // its next file
  }
  move_on(writer, note.at, note.world_size, clock);
}

// A line that a job prints when it starts, and every rank of it, perhaps.
void RunLedger::launched(const RunNote& note, const Clock& clock) {
  if (attempts_.empty()) {
    begin_attempt(note.at, note.world_size, clock);
    return;
  }
  // A log may be read after the timelines of its ranks: the attempt began with its first line.
  for (std::size_t i = 0; i < attempts_.size(); ++i) {
    Attempt& attempt = attempts_[i];
    if (note.at >= attempt.info.began || attempt.cut() != kNoTime) continue;
    const bool follows = i == 0
                             ? past_.empty() && attempt.info.number == 1
                             : !attempts_[i - 1].finalized && note.at >= attempts_[i - 1].evidence;
    if (follows && attempt.info.began - note.at < kGoneAfter) attempt.info.began = note.at;
    if (follows && i == 0) began_ = attempt.info.began;
    return;
  }
  Attempt& last = attempts_.back();
  const bool over = last.has_steps() || end_of(attempts_.size() - 1).has_value();
  if (over && note.at > last.info.began + kGrace && note.at >= last.evidence) {
    begin_attempt(note.at, note.world_size, clock);
    return;
  }
  last.info.ranks = std::max(last.info.ranks, note.world_size);
  last.saw(note.at);
}

void RunLedger::on(const Writer& writer, const RunNote& note, const Clock& clock) {
  using Kind = RunNote::Kind;
  // Evidence of an end may come again with another time.
  const bool counts = note.kind != Kind::end_evidence;
  if (counts) latest_ = std::max(latest_, note.at);
  if (note.kind == Kind::process_began) return process_began(writer, note, clock);
  if (note.kind == Kind::launched) return launched(note, clock);
  if (attempts_.empty() && note.end && note.end->of_machine) {
    return end_evidences_.add(note.at, *note.end);
  }
  if (attempts_.empty()) begin_attempt(note.at, note.world_size, clock);
  const Place known = find(writer.rank);
  Attempt& attempt = known.attempt == nullptr ? attempts_.back() : *known.attempt;
  if (note.world_size > 0) attempt.info.ranks = std::max(attempt.info.ranks, note.world_size);
  const auto mark = [&](double RankIteration::*seconds, bool RankIteration::*gap) {
    const Place own = known.rank != nullptr ? known : place_of(writer, note.at, clock);
    RankIteration& next = own.rank->next;
    own.attempt->moved(note.at);
    if (note.seconds < 0) next.*gap = true;
    if (note.seconds > 0) next.*seconds += note.seconds;
  };
  switch (note.kind) {
    case Kind::process_ended:
      if (known.rank != nullptr && !known.rank->ended) {
        attempt.leave(*known.rank);
        known.rank->ended = true;
      }
      if (note.end && note.end->what != EndClass::completed) end_evidences_.add(note.at, *note.end);
      break;
    case Kind::step_begun:
      if (known.rank != nullptr) known.rank->begun = note.step;
      break;
    case Kind::restored:
      if (!attempt.has_steps()) attempt.restore += std::max(note.seconds, 0.0);
      break;
    case Kind::checkpoint:
      mark(&RankIteration::checkpoint, &RankIteration::checkpoint_gap);
      break;
    case Kind::evaluation:
      mark(&RankIteration::evaluation, &RankIteration::evaluation_gap);
      break;
    case Kind::end_evidence:
      if (note.end) end_evidences_.add(note.at, *note.end);
      break;
    case Kind::completed:
      // In a log without steps or times, nothing else says when the run began.
      if (note.seconds > 0 && !attempt.has_steps())
        begin_by(attempt, note.at - from_seconds(note.seconds), kLongestRun);
      end_evidences_.add(note.at, EndEvidence{EndClass::completed, EndWeight::cause});
      break;
    case Kind::process_began:
    case Kind::launched:
    case Kind::saw:
    case Kind::gpu_report:
    case Kind::count_:
      break;
  }
  if (counts) attempt.saw(note.at);
}

bool RunLedger::counts(const Span& span) {
  if (span.origin != Origin::timeline) return false;
  switch (span.kind) {
    case SpanKind::forward:
    case SpanKind::backward:
    case SpanKind::optimizer:
    case SpanKind::checkpoint:
    case SpanKind::evaluation:
    case SpanKind::garbage_collection:
    case SpanKind::compilation:
    case SpanKind::data_init:
    case SpanKind::data_wait:
      return true;
    default:
      return false;
  }
}

void RunLedger::on(const Writer& writer, const Span& span, const Clock& clock) {
  if (!counts(span) || !takes(span.origin, false)) return;
  const auto phase = phase_of(span.kind);
  const Place own = place_of(writer, span.start, clock);
  Attempt::Rank& rank = *own.rank;
  if (span.start >= own.attempt->info.ended) resume(*own.attempt);
  latest_ = std::max(latest_, span.end());
  own.attempt->moved(span.end());
  rank.activity = std::max(rank.activity, span.end());
  const double seconds = std::max(to_seconds(span.duration), 0.0);
  if (span.kind == SpanKind::garbage_collection || span.kind == SpanKind::compilation) {
    rank.next.pause += seconds;
  }
  if (span.kind == SpanKind::data_init && rank.number != kNoStep) rank.next.wait += seconds;
  if (span.kind == SpanKind::checkpoint) rank.next.checkpoint += seconds;
  if (span.kind == SpanKind::evaluation) add_evaluation(rank, span.start, span.end());
  if (!phase) return;
  const Time from = rank.last_end == kNoTime ? rank.began : rank.last_end;
  RankIteration::Phase& known = rank.next.phases[static_cast<std::size_t>(*phase)];
  const double enter = to_seconds(span.start - from);
  known.enter = known.seen ? std::min(known.enter, enter) : enter;
  known.leave = known.seen ? std::max(known.leave, enter + seconds) : enter + seconds;
  known.inside += seconds;
  known.seen = true;
}

// Counts the time at once, since no step that could report it may follow.
void RunLedger::add_evaluation(Attempt::Rank& rank, Time from, Time to) {
  if (rank.last_end == kNoTime) return;
  from = std::max({from, rank.last_end, rank.evaluated_to});
  rank.next.evaluation += seconds_between(from, to);
  rank.evaluated_to = std::max(rank.evaluated_to, to);
}

void RunLedger::on_evaluation(const Writer& writer, const Step& step) {
  const Place own = find(writer.rank);
  if (own.rank == nullptr || own.rank->ended) return;
  add_evaluation(*own.rank, step.start, step.end());
  own.attempt->moved(step.end());
  latest_ = std::max(latest_, step.end());
}

void RunLedger::on(const Writer& writer, const Step& step, const Clock& clock) {
  if (!takes(step.origin, step.weak)) return;
  if (!step.is_training()) return on_evaluation(writer, step);
  const bool better = is_replaced_by(step.origin, step.weak);
  origin_ = step.origin;
  weak_ = step.weak;
  if (better) {  // its iterations come from one source
    const Time began = began_;
    std::string id = std::move(id_);
    const std::int64_t total = total_;
    WallTime wall_time = std::move(wall_time_);
    wall_time.clear();
    *this = RunLedger();
    wall_time_ = std::move(wall_time);
    id_ = std::move(id);
    total_ = total;
    origin_ = step.origin;
    weak_ = step.weak;
    begin_attempt(std::min(began, step.begin), 0, clock);
  }
  const Nanos all = step.duration * static_cast<std::int64_t>(step.steps);
  const Time began = step.origin == Origin::log ? std::max(step.end() - all, Time{}) : step.begin;
  Place own = place_of(writer, began, clock);
  if (own.rank->first) release_first(own, step.number, clock);
  const bool numbered = own.rank->number != kNoStep;
  if (numbered && step.restarts && step.begin >= own.rank->activity - kGrace) {
    own = move_on(writer, began, 0, clock);
    begin_before_launch(*own.attempt, step, began);
  } else if (numbered && step.number != kNoStep && step.number <= own.rank->number) {
    own.rank->base += own.rank->number + 1 - step.number;
    own.attempt->numbers_repeat = true;
  }
  if (step.origin == Origin::log) add_first_record(own, step, clock);
  if (!hold_first(own, step)) add_step(own, step, clock);
}

bool RunLedger::hold_first(Place own, const Step& step) {
  if (step.origin != Origin::log || own.rank->number != kNoStep || step.steps > 1) return false;
  own.rank->first = step;
  own.rank->activity = std::max(own.rank->activity, step.end());
  own.attempt->moved(step.end());
  latest_ = std::max(latest_, step.end());
  return true;
}

void RunLedger::release_first(Place own, std::int64_t next, const Clock& clock) {
  Step first = *std::exchange(own.rank->first, std::nullopt);
  const std::int64_t stands_for = std::min(next - first.number, first.number);
  if (stands_for > 1 && stands_for < 1'000'000) {
    first.steps = static_cast<std::uint32_t>(stands_for);
    const Time began = std::max(first.end() - first.duration * stands_for, Time{});
    const bool only = begun_ == 1 && own.attempt->cut() == kNoTime && !own.attempt->has_steps();
    if (only && began < began_) own.attempt->info.began = began_ = began;
  }
  add_step(own, first, clock);
}

void RunLedger::add_step(Place own, const Step& step, const Clock& clock) {
  Attempt& attempt = *own.attempt;
  Attempt::Rank& rank = *own.rank;
  const Time end = step.end();
  // If an end was reported before, it was none: somebody caught the exception.
  attempt.step_began = std::max(attempt.step_began, step.start);
  resume(attempt);
  if (rank.ended || rank.lost) attempt.come_back(rank);
  rank.ended = rank.lost = rank.closed = rank.vanished = false;
  latest_ = std::max(latest_, end);
  attempt.moved(end);
  rank.activity = std::max(rank.activity, end);

  const bool record = step.origin == Origin::log;
  const std::int64_t number = step.number == kNoStep ? rank.number + 1 : step.number;
  // A profiler records some steps, and the job does the others as well.
  std::uint32_t steps = step.steps;
  const bool passed_over = step.origin == Origin::profiler && rank.number != kNoStep &&
                           number > rank.number + 1 && number - rank.number < kMostPassedOver;
  if (passed_over) steps = static_cast<std::uint32_t>(number - rank.number);
  JobIterations::Ended said;
  said.said = rank.next;
  if (rank.last_end == kNoTime) said.said.pause = 0;  // imports pause, too: that is startup
  said.said.rank = step.subject;
  said.said.steps = steps;
  const Nanos own_time = step.duration * static_cast<std::int64_t>(step.steps);
  const Time before = rank.last_end != kNoTime ? rank.last_end
                      : record                 ? end - own_time
                                               : step.begin;
  said.said.total = seconds_between(before, end);
  said.said.wait += to_seconds(step.data_wait) * step.steps;
  said.said.evaluation = std::max(said.said.evaluation, to_seconds(step.evaluation));
  if (record) {
    said.said.own = to_seconds(own_time);
    const auto work = work_.find(step.subject);
    if (work != work_.end() && work->second.step == number)
      said.said.work = work->second.per_second * to_seconds(step.duration);
  }
  said.first_step = number - steps + 1;
  said.number = rank.base + number;
  said.begin = record ? std::max(end - own_time, Time{}) : step.start;
  said.end = end;
  said.place = attempt.seen_ranks() > 1 || attempt.info.ranks > 1 ? rank.place : -1;
  said.second = clock.second;
  attempt.note_number(said.first_step, number);
  rank.last_end = end;
  rank.number = number;
  rank.next = RankIteration{};
  rank.next.rank = step.subject;
  attempt.add(rank, said);
}

void RunLedger::record(const Writer& writer, std::int64_t step, Time at, const Clock& clock) {
  if (step < 0 || !takes(Origin::log, true)) return;
  const Place own = place_of(writer, at, clock);
  if (own.rank->number != kNoStep || own.rank->record != kNoStep) return;
  own.rank->record = step;
  own.rank->record_at = at;
  own.attempt->moved(at);
}

// Of a step that ended when its record was written; when it began is not known.
void RunLedger::add_first_record(Place own, const Step& next, const Clock& clock) {
  Attempt::Rank& rank = *own.rank;
  const std::int64_t number = std::exchange(rank.record, kNoStep);
  if (number == kNoStep || number >= next.number || rank.number != kNoStep) return;
  JobIterations::Ended said;
  said.said = std::exchange(rank.next, RankIteration{});
  said.said.rank = rank.next.rank = next.subject;
  said.number = rank.base + number;
  // As many as the next record, but not more than there can have been.
  const std::int64_t steps =
      std::clamp<std::int64_t>(next.steps, 1, std::max<std::int64_t>(number, 1));
  said.said.steps = static_cast<std::uint32_t>(steps);
  said.first_step = number - steps + 1;
  said.end = rank.record_at;
  said.second = clock.second;
  own.attempt->note_number(said.first_step, number);
  rank.last_end = rank.record_at;
  rank.number = number;
  own.attempt->add(rank, said);
}

void RunLedger::amend(const Writer& writer, const Step& step) {
  if (step.data_wait <= Nanos{} || !takes(step.origin, step.weak)) return;
  const Place own = find(writer.rank);
  if (own.rank != nullptr)
    own.attempt->amend_wait(writer.rank, step.number, to_seconds(step.data_wait) * step.steps);
}

// What was silent for long enough to be over speaks again.
void RunLedger::resume(Attempt& attempt) {
  if (!attempt.finalized || end_of(place_of(attempt))) return;
  attempt.go_on_from(attempt.info.ended);
  reported_over_ = false;
}

std::size_t RunLedger::place_of(const Attempt& attempt) const {
  std::size_t place = 0;
  while (&attempts_[place] != &attempt) ++place;
  return place;
}

std::optional<AttemptEnd> RunLedger::end_of(std::size_t place) const {
  if (end_evidences_.empty()) return std::nullopt;
  const Attempt& attempt = attempts_[place];
  Time from = place == 0 && past_.empty() ? Time{} : attempt.info.began;
  if (attempt.step_began != kNoTime) from = std::max(from, attempt.step_began - kWholeSecond);
  const bool last = place + 1 == attempts_.size();
  const Time to = last ? Time::max() : attempts_[place + 1].info.began;
  auto end = end_evidences_.verdict(from, to, attempt.info.began);
  // Launchers write whole seconds.
  if (end && end->at < attempt.progress && attempt.progress - end->at < kWholeSecond)
    end->at = attempt.progress;
  if (end && end->how.what == EndClass::unknown && end->how.rank == kNoRank)
    end->how.rank = attempt.silent_rank();
  return end;
}

std::optional<AttemptEnd> RunLedger::end_of_past(std::size_t place) const {
  const bool last = place + 1 == past_.size();
  const Time next = last ? attempts_.front().info.began : past_[place + 1].began;
  const Time from = std::max(past_[place].began, past_[place].step_began);
  auto end = end_evidences_.verdict(from, next, past_[place].began);
  if (!end) return past_[place].end;
  if (past_[place].end) end->at = std::max(end->at, past_[place].end->at);
  return end;
}

void RunLedger::written(Time at) {
  if (attempts_.empty() || attempts_.back().finalized || origin_ == Origin::timeline) return;
  Attempt& last = attempts_.back();
  if (at <= last.evidence || at - last.evidence > kGoneAfter) return;
  if (end_of(attempts_.size() - 1)) return;
  last.saw(at);
  latest_ = std::max(latest_, at);
}

void RunLedger::closed(const Writer& writer) {
  const Place own = find(writer.rank);
  if (own.rank != nullptr) own.rank->closed = true;
}

bool RunLedger::reopened(const Writer& writer) {
  const Place own = find(writer.rank);
  return own.rank != nullptr && std::exchange(own.rank->closed, false);
}

void RunLedger::vanished(const Writer& writer) {
  const Place own = find(writer.rank);
  if (own.rank != nullptr) own.rank->vanished = true;
}

void RunLedger::wrote_checkpoint(Time at) {
  if (checkpoint_files_.size() == kFiles) checkpoint_files_.erase(checkpoint_files_.begin());
  checkpoint_files_.push_back(at);
}

void RunLedger::total_steps(std::int64_t total) {
  if (attempts_.empty() || total >= attempts_.back().info.last_step) total_ = total;
}

void RunLedger::work(SubjectId rank, std::int64_t step, double per_second) {
  if (!(per_second > 0) || (work_.size() >= kMostWork && !work_.contains(rank))) return;
  work_[rank] = {step, per_second};
}

StagePaces& RunLedger::paces_of(const Attempt& attempt) {
  const std::uint32_t regime = std::max(attempt.info.ranks, attempt.seen_ranks());
  if (paces_.size() >= kRegimes && !paces_.contains(regime)) paces_.erase(paces_.begin());
  return paces_[regime];
}

const StagePaces& RunLedger::paces_of(const Attempt& attempt) const {
  const auto known = paces_.find(std::max(attempt.info.ranks, attempt.seen_ranks()));
  return known == paces_.end() ? no_paces_ : known->second;
}

IterationContext RunLedger::context_of(const Attempt& attempt, const LossJudge* judge) const {
  IterationContext context;
  context.begin = attempt.info.began;
  context.restore = attempt.restore;
  context.done = done_;
  context.stages = &stages_;
  for (const Attempt& before : attempts_) {
    if (before.info.number < attempt.info.number) context.done = std::max(context.done, before.top);
  }
  context.numbers_repeat = attempt.numbers_repeat;
  context.ranks = attempt.seen_ranks();
  context.world = attempt.info.ranks;
  context.checkpoint_files = checkpoint_files_;
  context.judge = judge;
  if (!attempt.has_steps()) {
    const auto end = end_of(place_of(attempt));
    context.done_without_steps = end && end->how.what == EndClass::completed;
  }
  return context;
}

// When the attempt ended, if it has: what was reported, or what the clock makes certain.
std::optional<Time> RunLedger::ending(const Attempt& attempt, const Clock& clock) const {
  if (attempt.info.ended != kNoTime) return attempt.info.ended;
  if (&attempt != &attempts_.back()) return attempt.evidence;
  if (const auto end = end_of(attempts_.size() - 1)) return std::max(attempt.evidence, end->at);
  if (attempt.all_ended()) return attempt.evidence;
  const Nanos silence = now(clock) - attempt.evidence;
  const bool quiet = clock.at_end || to_seconds(silence) > attempt.patience(paces_of(attempt));
  if (silence > kGoneAfter) return attempt.evidence;
  // Nobody can say that the silence of another clock is a stall.
  const bool strange = clock.now != kNoTime && behind_ > Nanos{};
  if (strange && quiet) return attempt.evidence;
  const bool gone = attempt.all_vanished() || (strange && attempt.all_closed());
  if (gone && silence > kVanishedAfter) return attempt.evidence;
  if (attempt.all_closed() && quiet) return attempt.evidence;
  return std::nullopt;
}

// As it is shown. An old log is over before its silence has lasted: nothing is booked for that, as
// it may be a job that somebody plays.
std::optional<Time> RunLedger::shown_ending(const Attempt& attempt, const Clock& clock) const {
  const auto end = ending(attempt, clock);
  return !end && is_old_log() ? std::optional(attempt.evidence) : end;
}

void RunLedger::count(const Attempt& attempt, const JobIteration& iteration,
                      StepCounts& counts) const {
  const std::uint32_t redone = context_of(attempt, nullptr).old_steps(iteration);
  counts.steps += iteration.last.steps - redone;
  counts.redone += redone;
  if (counts.ends.size() == kEnds) counts.ends.pop_front();
  counts.ends.push_back({iteration.end, iteration.last.steps, iteration.last.own});
}

RunLedger::StepCounts RunLedger::counts_with_open() const {
  StepCounts counts = counts_;
  for (const Attempt& attempt : attempts_) {
    attempt.each_open([&](const JobIteration& iteration) { count(attempt, iteration, counts); });
  }
  return counts;
}

void RunLedger::book(const SpentTime& spent, std::uint32_t ranks) {
  parts_.add(spent.parts, 1);
  rank_parts_.add(spent.parts, std::max(ranks, 1U));
  wall_time_.add(spent);
}

// Only what was recorded: the time between cycles is taken for training.
void RunLedger::lose_as_recorded(JobIterations::Booked& one) const {
  if (origin_ != Origin::profiler) return;
  if (one.steps != 1) {
    const double all = one.parts.total();
    one.parts = PartSeconds();
    one.parts[LifePart::training] = all;
    return;
  }
  const auto recorded = std::ranges::find_if(cycles_, [&one](const CycleShare& cycle) {
    return cycle.from < one.to && one.from < cycle.to;
  });
  if (recorded == cycles_.end()) return;
  double all = 0;
  for (std::size_t i = 0; i < kLifeParts; ++i) {
    const auto part = static_cast<LifePart>(i);
    if (part == LifePart::training || is_trouble(part)) all += std::exchange(one.parts[part], 0.0);
  }
  one.parts[LifePart::training] = all * (1 - std::min(recorded->share.total(), 1.0));
  one.parts.add(recorded->share, all);
}

void RunLedger::on(const CycleSummary& cycle) {
  constexpr std::size_t kCycles = 64;
  const double all = static_cast<double>(cycle.step_ns());
  if (all <= 0 || cycle.steps.empty()) return;
  CycleShare lost;
  lost.from = time_from_ns(cycle.steps.front().start_ns);
  lost.to = time_from_ns(cycle.end_ns());
  const auto lose = [&](LifePart part, std::int64_t ns) {
    if (ns > 0) lost.share[part] += static_cast<double>(ns) / all;
  };
  lose(LifePart::input_wait, cycle.idle(IdleReason::data_wait));
  lose(LifePart::host_pause, cycle.idle(IdleReason::host_pause));
  lose(LifePart::synchronization, cycle.idle(IdleReason::synchronization));
  lose(LifePart::kernel_launch, cycle.idle(IdleReason::launch));
  lose(LifePart::unattributed, cycle.idle(IdleReason::queued));
  lose(LifePart::communication, cycle.sum(&StepSummary::exposed_communication_ns));
  lose(LifePart::memory_copy, cycle.sum(&StepSummary::exposed_memory_ns));
  const auto same = std::ranges::find_if(cycles_, [&lost](const CycleShare& other) {
    return other.from < lost.to && lost.from < other.to;
  });
  if (same == cycles_.end()) {
    if (cycles_.size() == kCycles) cycles_.pop_front();
    cycles_.push_back(lost);
  } else if (lost.share[LifePart::communication] < same->share[LifePart::communication]) {
    *same = lost;
  }
}

std::optional<Time> RunLedger::ended() const {
  if (attempts_.empty() || !attempts_.back().finalized) return std::nullopt;
  return attempts_.back().info.ended;
}

bool RunLedger::end_may_differ() const {
  return reported_end_.has_value() || !end_evidences_.empty();
}

RunEnding RunLedger::ending_of(const AttemptInfo& attempt, std::optional<AttemptEnd> end) const {
  if (end && end->how.what == EndClass::completed) end.reset();
  RunEnding ending;
  ending.at = end ? end->at : attempt.ended;
  ending.end = std::move(end);
  ending.attempt = attempt.number;
  ending.step = attempt.last_step;
  ending.total_steps = total_;
  return ending;
}

// Ends of attempts that others have followed, each taken back by the next.
void RunLedger::take_past_endings(std::vector<RunEnding>& endings) {
  const auto report = [&](const AttemptInfo& attempt, std::optional<AttemptEnd> end, Time next) {
    if (attempt.number <= reported_through_) return;
    reported_through_ = attempt.number;
    endings.push_back(ending_of(attempt, std::move(end)));
    if (!endings.back().end) return endings.pop_back();
    endings.push_back(endings.back());
    endings.back().end.reset();
    endings.back().at = std::max(endings.back().at, next);
  };
  for (std::size_t i = 0; i < past_.size(); ++i) {
    const bool last = i + 1 == past_.size();
    report(past_[i], end_of_past(i), last ? attempts_.front().info.began : past_[i + 1].began);
  }
  for (std::size_t i = 0; i + 1 < attempts_.size(); ++i)
    report(attempts_[i].info, end_of(i), attempts_[i + 1].info.began);
}

std::vector<RunEnding> RunLedger::take_endings(const Clock& clock) {
  std::vector<RunEnding> endings;
  if (attempts_.empty() || (clock.now == kNoTime && !clock.at_end)) return endings;
  take_past_endings(endings);
  const Attempt& last = attempts_.back();
  reported_through_ = last.info.number;
  RunEnding ending = ending_of(last.info, end_of(attempts_.size() - 1));
  const auto is_same = [](const AttemptEnd& a, const AttemptEnd& b) {
    return a.at == b.at && a.how.what == b.how.what && a.how.rank == b.how.rank &&
           a.how.text == b.how.text && a.how.exit_code == b.how.exit_code;
  };
  const bool same = ending.end.has_value() == reported_end_.has_value() &&
                    (!ending.end || is_same(*ending.end, *reported_end_));
  if (same) return endings;
  reported_end_ = ending.end;
  if (!ending.end) ending.at = last.evidence;
  endings.push_back(std::move(ending));
  return endings;
}

bool RunLedger::take_ended() {
  const bool now = ended().has_value();
  return now && !std::exchange(reported_over_, now);
}

void RunLedger::book(JobIterations::Booked one, double weight, std::uint32_t ranks) {
  lose_as_recorded(one);
  if (one.parts[LifePart::startup] > 0 || one.parts[LifePart::restore] > 0) {
    SpentTime start = take_start(one);
    start.parts.add(start.parts, weight - 1);
    book(start, ranks);
  }
  SpentTime spent{one.from, one.to, one.parts};
  if (weight != 1) spent.parts.add(one.parts, weight - 1);
  book(spent, ranks);
  const double length = seconds_between(one.from, one.to);
  const double lost = spent.parts.lost();
  if (length > 0) {
    const double passed = std::min(1.0, length / kSlowSeconds);
    slow_ += (lost / length - slow_) * passed;
    slow_known_ += (1 - slow_known_) * passed;
  }
  if (ranks > 1 && weight == 1 && one.rank != SubjectId::none &&
      iterations_now_.size() < kMostBooked) {
    iterations_now_.push_back({.rank = one.rank,
                               .from = one.from,
                               .to = one.to,
                               .last_step = one.last_step,
                               .late = one.parts[LifePart::straggler]});
  }
  const bool loses = lost > 0 || spent.parts[LifePart::redone] > 0;
  if (loses && booked_now_.size() < kMostBooked) booked_now_.push_back(one);
}

bool RunLedger::may_finalize(std::size_t place, const Clock& clock) const {
  const Attempt& attempt = attempts_[place];
  if (attempt.finalized) return false;
  if (clock.at_end) return true;
  if (place + 1 < attempts_.size()) {
    const Attempt& next = attempts_[place + 1];
    return attempt.all_left() || attempt.ranks().empty() || attempts_.size() > kMostOpenAttempts ||
           clock.second - next.opened >= kBookedAfter || next.held() > JobIterations::kMostOpen;
  }
  // An end is no earlier than the last evidence; to look for one takes a look at each rank.
  if (clock.now == kNoTime || clock.now - attempt.evidence <= kGrace) return false;
  const auto end = ending(attempt, clock);
  return end && clock.now - *end > kGrace;
}

// Books what is open, for good.
void RunLedger::finalize(std::size_t place, const Clock& clock, const LossJudge* judge) {
  Attempt& attempt = attempts_[place];
  const bool over = place + 1 < attempts_.size() || ending(attempt, clock);
  StagePaces& paces = paces_of(attempt);
  const std::uint32_t ranks = std::max(attempt.info.ranks, attempt.seen_ranks());
  attempt.each_rank([&](Attempt::Rank& rank) {
    if (rank.first) release_first({&attempt, &rank}, rank.first->number + 1, clock);
  });
  attempt.close(paces, clock.second, true,
                [&](const JobIteration& iteration) { count(attempt, iteration, counts_); });
  const IterationContext context = context_of(attempt, judge);
  attempt.settle(paces, context, true, [&](const JobIterations::Booked& one, double weight) {
    book(one, weight, ranks);
  });
  if (!over) return;
  Time ended = ending(attempt, clock).value_or(attempt.evidence);
  if (place + 1 < attempts_.size()) ended = std::min(ended, attempts_[place + 1].info.began);
  ended = std::max(ended, attempt.info.began);
  if (attempt.cut() != kNoTime) ended = std::max(ended, attempt.cut());
  book(spent_until(ended, attempt.provisional(paces, context, ended, true)), ranks);
  attempt.info.ended = ended;
  attempt.finalized = true;
  done_ = std::max(done_, attempt.top);
  if (place + 1 == attempts_.size()) return;
  Attempt& next = attempts_[place + 1];
  next.info.began = std::max(next.info.began, ended);
  book(down_between(ended, next.info.began), ranks);
}

void RunLedger::advance(const Clock& clock, const LossJudge* judge, bool may_end) {
  for (std::size_t i = 0; i < attempts_.size(); ++i) {
    Attempt& attempt = attempts_[i];
    if (attempt.finalized) continue;
    StagePaces& paces = paces_of(attempt);
    attempt.close(paces, clock.second, false,
                  [&](const JobIteration& iteration) { count(attempt, iteration, counts_); });
    const bool first = i == 0 || attempts_[i - 1].finalized;
    if (!first) continue;
    const std::uint32_t ranks = std::max(attempt.info.ranks, attempt.seen_ranks());
    attempt.settle(
        paces, context_of(attempt, judge), false,
        [&](const JobIterations::Booked& one, double weight) { book(one, weight, ranks); });
    const bool last = i + 1 == attempts_.size();
    if ((may_end || !last) && may_finalize(i, clock)) finalize(i, clock, judge);
  }
  while (attempts_.size() > 1 && attempts_.front().finalized) {
    Attempt& done = attempts_.front();
    done.info.end = end_of(0);
    done.info.step_began = done.info.began;
    if (done.step_began != kNoTime)
      done.info.step_began = std::max(done.step_began - kWholeSecond, done.info.began);
    if (past_.size() == kAttemptsKept) past_.erase(past_.begin());
    past_.push_back(done.info);
    attempts_.pop_front();
  }
}

bool RunLedger::rests() const {
  return attempts_.empty() || attempts_.back().finalized;
}

LifeState RunLedger::state_of(const Attempt& attempt, const Clock& clock, Life& life) const {
  life.end = end_of(attempts_.size() - 1);
  if (life.end) {
    life.since = life.end->at;
    if (life.end->how.what == EndClass::completed) return LifeState::finished;
    return life.end->is_cancellation() ? LifeState::cancelled : LifeState::failed;
  }
  const auto ended = shown_ending(attempt, clock);
  life.since = ended.value_or(attempt.info.began);
  const bool closed = attempt.all_closed();
  if (ended && closed) {
    AttemptEnd end{*ended, {}};
    end.how.what = EndClass::completed;
    life.since = end.at;
    life.end = end;
    return LifeState::finished;
  }
  if (ended) {
    life.end = AttemptEnd{*ended, {}};
    return LifeState::gone;
  }
  if (!attempt.has_steps()) return LifeState::starting;
  const Nanos silence = now(clock) - attempt.progress;
  const StagePaces& paces = paces_of(attempt);
  if (to_seconds(silence) > attempt.patience(paces)) {
    life.since = attempt.progress;
    return LifeState::stalled;
  }
  const bool slow = slow_known_ > kSlowKnown && slow_ > kSlow * slow_known_;
  return slow ? LifeState::slow : LifeState::running;
}

// Steps that ended after the first end in the last minute, by the time since that; at least ten.
double RunLedger::rate(const Life& life, const Attempt& last,
                       const std::deque<StepEnd>& ends) const {
  if (ends.empty() || life.state == LifeState::stalled) return 0;
  const auto of_attempt = [&last](const StepEnd& end) { return end.at >= last.info.began; };
  const double patience = last.patience(paces_of(last));
  const bool finished = life.state == LifeState::finished;
  if (!finished && seconds_between(ends.back().at, life.until) > patience) return 0;
  // The next one is not due yet, or for as long as it is overdue.
  Nanos due = from_seconds(last.due(paces_of(last)));
  if (ends.size() > 1 && of_attempt(ends[ends.size() - 2]))
    due = std::max(due, ends.back().at - ends[ends.size() - 2].at);
  const Time overdue = life.until - due;
  const bool over = !trainwatch::goes_on(life.state);
  const Time to = over ? ends.back().at : std::max(ends.back().at, overdue);
  std::size_t first = ends.size() - 1;
  std::uint64_t steps = ends[first].steps;
  while (first > 0 && of_attempt(ends[first - 1]) &&
         (ends[first - 1].at >= to - std::chrono::seconds(60) ||
          steps - ends[first].steps < kRateSteps)) {
    --first;
    steps += ends[first].steps;
  }
  const double seconds = seconds_between(ends[first].at, to);
  return seconds > 0 ? static_cast<double>(steps - ends[first].steps) / seconds : 0;
}

// Of a log with few records, of which none is booked yet: the median of those. 0: there are none.
double RunLedger::seconds_per_step(const Attempt& last, const std::deque<StepEnd>& ends) const {
  const double clean = paces_of(last).latest().so_far();
  if (clean > 0) return clean;
  std::vector<double> paces;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].steps == 0 || ends[i].at < last.info.began) continue;
    const bool follows = i > 0 && ends[i - 1].at >= last.info.began;
    const double between = follows ? seconds_between(ends[i - 1].at, ends[i].at) : 0;
    const double seconds = ends[i].own >= 0 ? ends[i].own : between;
    if (seconds > 0) paces.push_back(seconds / ends[i].steps);
  }
  return paces.empty() ? 0 : median_in(paces);
}

Life RunLedger::life(const Clock& clock) const {
  Life life;
  if (attempts_.empty()) return life;
  const Attempt& last = attempts_.back();
  life.state = state_of(last, clock, life);
  const auto end = shown_ending(last, clock);
  life.until = end ? *end : now(clock);
  if (last.cut() != kNoTime) life.until = std::max(life.until, last.cut());
  life.until = std::max(life.until, last.info.began);
  life.began_at = began_;
  life.parts = parts_;
  life.rank_parts = rank_parts_;
  life.grew = origin_ != Origin::log || grows_;
  for (std::size_t i = 0; i < attempts_.size(); ++i) {
    const Attempt& attempt = attempts_[i];
    if (attempt.finalized) continue;
    const bool follows = i + 1 < attempts_.size();
    Time until = life.until;
    if (follows) until = std::min(attempt.evidence, attempts_[i + 1].info.began);
    if (follows && attempt.cut() != kNoTime) until = std::max(until, attempt.cut());
    PartSeconds open = attempt.provisional(paces_of(attempt), context_of(attempt, nullptr), until,
                                           follows || end.has_value());
    if (follows) open[LifePart::down] += to_seconds(attempts_[i + 1].info.began - until);
    life.open.add(open, 1);
    life.rank_parts.add(open, std::max({attempt.info.ranks, attempt.seen_ranks(), 1U}));
  }
  life.parts.add(life.open, 1);
  life.wall = seconds_between(began_, life.until);
  life.rank_seconds = life.rank_parts.total();
  life.attempts = past_;
  for (std::size_t i = 0; i < life.attempts.size(); ++i) {
    life.attempts[i].end = end_of_past(i);
  }
  for (const Attempt& attempt : attempts_) {
    AttemptInfo info = attempt.info;
    info.ranks = std::max(info.ranks, attempt.seen_ranks());
    const bool is_last = &attempt == &last;
    info.end = is_last ? life.end : end_of(place_of(attempt));
    if (is_last && end) info.ended = *end;
    if (!is_last && info.ended == kNoTime) info.ended = attempt.evidence;
    life.attempts.push_back(std::move(info));
    life.own_seconds += attempt.own_seconds();
    life.own_steps += attempt.own_steps();
  }
  const StepCounts counts = counts_with_open();
  life.steps = counts.steps;
  life.redone_steps = counts.redone;
  life.step = last.info.last_step;
  life.last_step_at = counts.ends.empty() ? kNoTime : counts.ends.back().at;
  life.total_steps = total_ >= life.step ? total_ : 0;
  life.seconds_per_step = seconds_per_step(last, counts.ends);
  life.steps_per_second = rate(life, last, counts.ends);
  const bool training = life.state == LifeState::running || life.state == LifeState::slow;
  if (training && total_ > life.step && life.step != kNoStep && life.steps_per_second > 0)
    life.eta_seconds = static_cast<double>(total_ - life.step) / life.steps_per_second;
  return life;
}

ColumnChart<PartSeconds> RunLedger::wall_time(const Life& life, const ChartRange& range) const {
  WallTime with_open = wall_time_;
  SpentTime open = spent_until(life.until, life.open);
  SpentTime start{open.from, open.from, {}};
  for (const LifePart part : {LifePart::restore, LifePart::startup})
    start.parts[part] = std::exchange(open.parts[part], 0.0);
  open.from = start.to = start.from + from_seconds(start.parts.total());
  with_open.add(start);
  with_open.add(open);
  return with_open.chart(range);
}

PartSeconds RunLedger::spent(Time from, Time to, const Life& life) const {
  const SpentTime open = spent_until(life.until, life.open);
  const double length = seconds_between(open.from, open.to);
  const double within = seconds_between(std::max(open.from, from), std::min(open.to, to));
  const double share = length > 0 ? std::clamp(within / length, 0.0, 1.0) : 0.0;
  PartSeconds spent = wall_time_.spent(from, to);
  spent.add(open.parts, share);
  return spent;
}

bool RunLedger::take_all_changed() {
  bool changed = false;
  for (Attempt& attempt : attempts_) changed = attempt.take_all_changed() || changed;
  return changed;
}

bool RunLedger::knows(SubjectId rank) const {
  return std::ranges::any_of(
      attempts_, [rank](const Attempt& attempt) { return attempt.ranks().contains(rank); });
}

// By the number of the attempt.
void RunLedger::rank_state(StateIo& io, SubjectId rank) {
  std::vector<std::uint32_t> numbers;
  for (const Attempt& attempt : attempts_) {
    if (attempt.ranks().contains(rank)) numbers.push_back(attempt.info.number);
  }
  io(numbers);
  for (const std::uint32_t number : numbers) {
    const auto attempt = std::ranges::find_if(
        attempts_, [number](const Attempt& each) { return each.info.number == number; });
    if (attempt == attempts_.end()) return io.fail();
    attempt->rank_state(io, rank);
  }
}

void RunLedger::loaded() {
  for (Attempt& attempt : attempts_) attempt.count_ranks();
}

void RunLedger::StepCounts::state(StateIo& io) {
  io(steps);
  io(redone);
  io(ends);
}

void RunLedger::state(StateIo& io) {
  io(id_);
  io(attempts_);
  io(past_);
  io(stages_);
  io(paces_);
  io(parts_);
  io(rank_parts_);
  io(began_);
  io(latest_);
  io(latest_read_);
  io(behind_);
  io(first_read_);
  io(grows_);
  io(origin_);
  io(weak_);
  io(begun_);
  io(done_);
  io(counts_);
  io(total_);
  io(slow_);
  io(slow_known_);
  io(end_evidences_);
  io(checkpoint_files_);
  io(work_);
  io(cycles_);
  io(reported_over_);
  io(reported_end_);
  io(reported_through_);
  if (past_.size() > kAttemptsKept || paces_.size() > kRegimes || counts_.ends.size() > kEnds ||
      checkpoint_files_.size() > kFiles || work_.size() > kMostWork) {
    io.fail();
  }
}

}  // namespace trainwatch
