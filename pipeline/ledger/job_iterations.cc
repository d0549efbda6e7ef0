// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ledger/job_iterations.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "trainwatch/stats/median.h"

namespace trainwatch {
namespace {

constexpr double kSurelyMore = 1.5;    // times the clean pace: no noise, before that is known
constexpr double kNamedFirst = 0.05;   // of what a rank names: so much less may its work be
constexpr double kTiny = 0.01;         // of a step: pauses and differences below are training
constexpr double kWorthAsking = 0.02;  // of an iteration: losses below keep the part of the steps
constexpr std::size_t kNoises = 31;
constexpr double kShortestPatience = 30;  // seconds
constexpr double kPatientSteps = 20;
constexpr double kPatientPauses = 2;  // times the longest

constexpr LifePart kNameless[] = {LifePart::straggler, LifePart::compute_growth,
                                  LifePart::communication, LifePart::elsewhere,
                                  LifePart::unattributed};

}  // namespace

std::uint32_t IterationContext::old_steps(const JobIteration& iteration) const {
  if (numbers_repeat || done == kNoStep) return 0;
  const std::int64_t old = done - iteration.first_step + 1;
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(old, 0, std::int64_t{iteration.last.steps}));
}

double JobIterations::scale_of(const JobIteration& iteration) const {
  const double work = iteration.last.work > 0 ? iteration.last.work : work_;
  return iteration.last.steps * work;
}

JobIterations::ByNumber::iterator JobIterations::begin_iteration(std::int64_t number) {
  if (free_.empty()) return open_.try_emplace(number).first;
  free_.key() = number;
  free_.mapped() = JobIteration{};
  return open_.insert(std::move(free_)).position;
}

bool JobIterations::add(const Ended& step, RankLevel& level) {
  if (closed_any_ && step.number <= closed_) return false;
  auto entry = open_.find(step.number);
  const bool is_new = entry == open_.end();
  if (is_new) entry = begin_iteration(step.number);
  JobIteration& iteration = entry->second;
  if (is_new) {
    iteration.number = step.number;
    iteration.barriers = barriers_.barriers();
    iteration.opened = step.second;
    iteration.end = iteration.earliest = step.end;
  }
  iteration.first_step = step.first_step;
  ++iteration.seen;
  if (step.begin != kNoTime && (iteration.begin == kNoTime || step.begin < iteration.begin))
    iteration.begin = step.begin;
  iteration.end = std::max(iteration.end, step.end);
  iteration.earliest = std::min(iteration.earliest, step.end);
  const RankIteration& said = step.said;
  for (std::size_t i = 0; i < kStepPhases; ++i) {
    const bool named = said.phases[i].seen && barriers_.saw(static_cast<StepPhase>(i));
    if (named) iteration.barriers = barriers_.barriers();
  }
  const double work = said.total - said.inside(iteration.barriers) - said.named();
  // Without a barrier work and waiting look alike.
  const double own = said.named() + (iteration.barriers != 0 ? work : 0);
  if (step.place >= 0) {
    for (std::size_t i = 0; i < kStepPhases; ++i) {
      const RankIteration::Phase& phase = said.phases[i];
      if (!phase.seen) continue;
      JobIteration::Range& range = iteration.ranges[i];
      range.enter_first = std::min(range.enter_first, phase.enter);
      range.enter_last = std::max(range.enter_last, phase.enter);
      range.leave_first = std::min(range.leave_first, phase.leave);
      range.leave_last = std::max(range.leave_last, phase.leave);
    }
    const std::size_t most = std::max<std::size_t>(JobIteration::kGroups, ranks_);
    const std::size_t place = static_cast<std::size_t>(step.place) * JobIteration::kGroups / most;
    JobIteration::Group& group = iteration.groups[std::min(place, JobIteration::kGroups - 1)];
    group.work += work;
    ++group.ranks;
    if (level.known && level.barriers == iteration.barriers) {
      iteration.noise = std::max(iteration.noise, work - level.work);
      level.work += (work - level.work) / 8;
    } else {
      level = {work, iteration.barriers, true};
    }
  }
  // Where a wait for others has no phase, all ranks were as long; one of them says what it did.
  const double before = iteration.own + kNamedFirst * iteration.last.named();
  if (own + kNamedFirst * said.named() > before) {
    iteration.own = own;
    iteration.last = said;
    iteration.last.level = work;
  }
  return true;
}

void JobIterations::amend_wait(SubjectId rank, std::int64_t number, double wait) {
  const auto amend = [rank, wait](JobIteration& iteration) {
    if (iteration.last.rank == rank) iteration.last.wait = std::max(iteration.last.wait, wait);
  };
  for (ByNumber* const iterations : {&open_, &held_}) {
    const auto known = iterations->find(number);
    if (known != iterations->end()) return amend(known->second);
  }
}

const JobIteration& JobIterations::close_oldest(const StagePaces& paces) {
  assert(!open_.empty());
  auto node = open_.extract(open_.begin());
  JobIteration& iteration = node.mapped();
  closed_ = iteration.number;
  closed_any_ = true;
  Time from = last_end_;
  if (from == kNoTime) from = iteration.begin == kNoTime ? iteration.end : iteration.begin;
  const double length = seconds_between(from, iteration.end);
  last_end_ = std::max(iteration.end, last_end_);
  if (iteration.seen > 1) {
    if (barriers_.learn(iteration, length)) noises_.clear();
    learn_noise(iteration);
    const CleanPace& pace = paces.latest();
    learn_apart(iteration, pace.known() ? pace.clean() : length);
  }
  last_scale_ = scale_of(iteration);
  return held_.insert(std::move(node)).position->second;
}

// How much longer than usual the unluckiest rank works, when all have as much to do as usual.
void JobIterations::learn_noise(JobIteration& iteration) {
  const double level = iteration.level();
  if (common_known_ && common_barriers_ == iteration.barriers) {
    if (iteration.barriers == barriers_.barriers()) {
      if (noises_.size() == kNoises) noises_.pop_front();
      noises_.push_back(std::max(0.0, iteration.noise - (level - common_)));
    }
    common_ += (level - common_) / 8;
  } else {
    common_ = level;
    common_barriers_ = iteration.barriers;
    common_known_ = true;
  }
  iteration.allowed =
      noises_.size() < 3 ? -1 : median_of(std::vector<double>(noises_.begin(), noises_.end()));
}

void JobIterations::learn_apart(const JobIteration& iteration, double length) {
  constexpr double kFarApart = 3;  // clean iterations, beyond what clocks differ
  const double spread = seconds_between(iteration.earliest, iteration.end);
  skew_ = skew_ < 0 ? spread : std::min(skew_, spread);
  apart_ = spread - skew_ > kFarApart * length ? apart_ + 1 : 0;
}

JobIterations JobIterations::split() const {
  JobIterations one;
  one.go_on_from(last_end_);
  one.warm_ = true;
  one.booked_ = 1;
  one.longest_ = longest_;
  return one;
}

// What is left of an iteration when all that is known by name has been taken off, and that.
JobIterations::Residual JobIterations::residual(const CleanPace& pace,
                                                const JobIteration& iteration,
                                                double length) const {
  const RankIteration& said = iteration.last;
  Residual rest{length, {}};
  const auto take = [&rest](LifePart part, double seconds) {
    seconds = std::clamp(seconds, 0.0, rest.left);
    rest.named[part] += seconds;
    rest.left -= seconds;
  };
  take(LifePart::checkpoint, said.checkpoint);
  take(LifePart::evaluation, said.evaluation);
  if (said.own >= 0) {
    const double gap = rest.left - said.own;
    if (said.checkpoint_gap) take(LifePart::checkpoint, gap);
    if (said.evaluation_gap) take(LifePart::evaluation, rest.left - said.own);
  }
  const double step = rest.left / said.steps;
  if (said.pause > kTiny * step) take(LifePart::host_pause, said.pause);
  const double unwanted = said.wait - pace.usual_wait_of(said.wait);
  take(LifePart::input_wait, unwanted);
  if (iteration.barriers != 0 && iteration.allowed >= 0) {
    const double more = said.level - iteration.level();
    // The noise of many ranks makes their job slower, too.
    if (more > std::max(2 * iteration.allowed, kTiny * step))
      take(LifePart::straggler, more - iteration.allowed);
  }
  return rest;
}

// Learns what waits are usual.
void JobIterations::learn_wait(CleanPace& pace, const JobIteration& iteration, double left) const {
  const RankIteration& said = iteration.last;
  const double step = left / said.steps;
  const double work = said.work > 0 ? said.work : work_;
  const double clean = pace.known() ? std::min(step, pace.clean() * work) : step;
  pace.learn_wait(said.wait, std::max(clean, step - said.wait));
}

// The first iterations of a stage together: their median forgives those that are slow. False: there
// are too few.
bool JobIterations::learn_first(CleanPace& pace, std::uint32_t stage,
                                const IterationContext& context, bool all) {
  std::vector<JobIteration*> first;
  std::vector<double> works;
  for (auto& [number, iteration] : held_) {
    if (context.place_of(iteration).stage != stage) break;
    first.push_back(&iteration);
    if (iteration.last.work > 0) works.push_back(iteration.last.work);
  }
  if (first.size() < CleanPace::kNeeded && first.size() == held_.size() && !all) return false;
  const double usual = works.empty() ? work_ : median_of(std::move(works));
  Time cut = cut_;
  std::vector<double> paces;
  for (JobIteration* const each : first) {
    JobIteration& iteration = *each;
    if (iteration.last.work <= 0) iteration.last.work = usual * context.place_of(iteration).work;
    if (cut == kNoTime) cut = iteration.begin == kNoTime ? iteration.end : iteration.begin;
    const double length = seconds_between(cut, iteration.end);
    learn_wait(pace, iteration, length);
    const Residual rest = residual(pace, iteration, length);
    paces.push_back(rest.left / (iteration.last.steps * iteration.last.work));
    cut = std::max(cut, iteration.end);
  }
  const bool first_unknown = first.front()->begin == kNoTime && paces.size() >= 3;
  for (std::size_t i = first_unknown ? 1 : 0; i < paces.size(); ++i) {
    pace.learn(paces[i], i + 1 == paces.size());
  }
  learnt_ = static_cast<std::uint32_t>(first.size());
  return true;
}

void JobIterations::settle(StagePaces& paces, const IterationContext& context, Time latest,
                           bool all, std::vector<Booked>& out) {
  while (!held_.empty()) {
    const JobIteration& oldest = held_.begin()->second;
    const bool many = all || held_.size() > kMostOpen;
    const bool due = many || oldest.end + kSettle <= latest;
    if (!due && booked_ > 0) return;
    const StageHistory::Place place = context.place_of(oldest);
    CleanPace& pace = paces.of(place.stage);
    if (!pace.known() && !learn_first(pace, place.stage, context, all)) return;
    if (!due || !settle_oldest(pace, place, context, many, out)) return;
  }
}

// From the begin of the attempt to its first iteration.
void JobIterations::begin_book(const CleanPace& pace, const IterationContext& context,
                               const JobIteration& iteration, PartSeconds& parts) {
  Time begin = iteration.begin;
  if (begin == kNoTime) begin = iteration.end - from_seconds(scale_of(iteration) * pace.clean());
  cut_ = std::max(context.begin, std::min(begin, iteration.end));
  const double before = seconds_between(context.begin, cut_);
  const double restore = std::min(context.restore, before);
  parts[LifePart::restore] += restore;
  parts[LifePart::startup] += before - restore;
}

CleanPace::Usual JobIterations::usual_of(const JobIteration& iteration) const {
  const RankIteration& said = iteration.last;
  const double inside = said.inside_all();
  const double blocked = said.inside(iteration.barriers);
  return {blocked, inside - blocked, said.total - inside - said.named()};
}

// What grew in the rank that came last, where its phases are known.
JobIterations::Growth JobIterations::growth(const CleanPace& pace, const IterationContext& context,
                                            const JobIteration& iteration, double excess) const {
  if (!iteration.last.has_phases() || !pace.usual()) return {};
  const CleanPace::Usual now = usual_of(iteration);
  if (now.gap - pace.usual()->gap > 0.5 * excess) return {LifePart::unattributed, true};
  // That of the others as well, or it would be a straggler.
  if (now.work - pace.usual()->work > 0.25 * excess) return {LifePart::compute_growth, false};
  if (now.blocked - pace.usual()->blocked > 0.5 * excess) {
    if (context.ranks < context.world) return {LifePart::elsewhere, false};
    const bool alone = context.ranks <= 1;
    return {alone ? LifePart::compute_growth : LifePart::communication, false};
  }
  return {};
}

// Compiling, filling queues: what the first iterations have too much, up to the first clean one.
// Returns what it took of the excess.
double JobIterations::warm_up(double excess, PartSeconds& named, PartSeconds& parts) {
  if (warm_) return 0;
  const bool first = warming_ == 0;
  if ((excess <= 0 && !first) || ++warming_ >= kLongestWarmUp) warm_ = true;
  if (excess <= 0 && !first) return 0;
  parts[LifePart::startup] += excess;
  if (first) parts[LifePart::startup] += std::exchange(named[LifePart::input_wait], 0.0);
  return excess;
}

JobIterations::Excess JobIterations::excess_of(const CleanPace& pace,
                                               const IterationContext& context,
                                               const JobIteration& iteration,
                                               const Residual& rest) const {
  const double scale = scale_of(iteration);
  Excess excess;
  excess.seconds = std::min(pace.excess(rest.left / scale) * scale, rest.left);
  excess.clean = excess.seconds <= 0;
  if (excess.clean) return excess;
  const Growth grew = growth(pace, context, iteration, excess.seconds);
  excess.part = grew.part;
  const bool phases = iteration.last.has_phases();
  const LifePart unexplained = iteration.last.unexplained();
  if (excess.part == LifePart::unattributed && unexplained != LifePart::unattributed) {
    excess.part = unexplained;
    return excess;
  }
  if (!grew.pause && pace.is_natural(rest.left / scale, phases)) excess.seconds = 0;
  return excess;
}

// Asks for the parts of what is not small. False: what decides may still be read.
bool JobIterations::judge(const IterationContext& context, const JobIteration& iteration,
                          const Residual& rest, bool all, Excess& excess) const {
  if (context.judge == nullptr) return true;
  const double least = kWorthAsking * seconds_between(cut_, iteration.end);
  const auto ask = [&](LifePart& part, double seconds) {
    if (seconds <= 0 || seconds < least) return true;
    const auto found =
        context.judge->judge({iteration.last.rank, cut_, iteration.end, seconds, part});
    part = found.value_or(part);
    return found || all;
  };
  const bool judged = !warm_ || ask(excess.part, excess.seconds);
  return judged && ask(excess.wait, rest.named[LifePart::input_wait]);
}

void JobIterations::attribute(const IterationContext& context, const JobIteration& iteration,
                              const Excess& excess, PartSeconds& named) const {
  const bool wrote = std::ranges::any_of(context.checkpoint_files, [&](Time written) {
    return cut_ < written && written <= iteration.end;
  });
  const bool nameless = excess.part == LifePart::unattributed;
  if (excess.seconds > 0)
    named[nameless && wrote ? LifePart::checkpoint : excess.part] += excess.seconds;
  if (excess.wait != LifePart::input_wait)
    named[excess.wait] += std::exchange(named[LifePart::input_wait], 0.0);
}

// What was reported as a stall while it lasted is one afterwards.
void JobIterations::stall(const CleanPace& pace, double length, PartSeconds& named) {
  for (const LifePart part : kNameless) {
    if (named[part] > patience(pace)) named[LifePart::stalled] += std::exchange(named[part], 0.0);
  }
  if (named[LifePart::stalled] <= 0) longest_ = std::max(longest_, length);
}

void JobIterations::note_booked(const JobIteration& iteration) {
  const RankIteration& said = iteration.last;
  if (iteration.barriers != 0 || iteration.seen == 1) {
    own_seconds_ += std::max(iteration.own, 0.0);
    own_steps_ += said.steps;
  }
  booked_ += said.steps;
  cut_ = std::max(cut_, iteration.end);
}

// False: the cause of what it lost may still be read.
bool JobIterations::settle_oldest(CleanPace& pace, const StageHistory::Place& place,
                                  const IterationContext& context, bool all,
                                  std::vector<Booked>& out) {
  JobIteration& iteration = held_.begin()->second;
  RankIteration& said = iteration.last;
  const double logged = said.work;
  if (logged <= 0) said.work = work_ * place.work;
  Booked booked;
  const Time cut_before = cut_;
  if (cut_ == kNoTime) begin_book(pace, context, iteration, booked.parts);
  const double length = seconds_between(cut_, iteration.end);
  const bool is_new = learnt_ == 0 && !std::exchange(front_learnt_, true);
  if (is_new) learn_wait(pace, iteration, length);
  Residual rest = residual(pace, iteration, length);
  if (is_new) pace.learn(rest.left / scale_of(iteration));
  Excess excess = excess_of(pace, context, iteration, rest);
  if (!judge(context, iteration, rest, all, excess)) {
    cut_ = cut_before;
    said.work = logged;
    return false;
  }
  const double warmed = warm_up(excess.seconds, rest.named, booked.parts);
  rest.left -= warmed;
  excess.seconds -= warmed;
  attribute(context, iteration, excess, rest.named);
  if (excess.clean && said.has_phases()) pace.remember(usual_of(iteration));
  stall(pace, length, rest.named);
  rest.named[LifePart::training] = std::max(rest.left - std::max(excess.seconds, 0.0), 0.0);

  const double old = static_cast<double>(context.old_steps(iteration)) / said.steps;
  booked.parts[LifePart::redone] += rest.named.total() * old;
  booked.parts.add(rest.named, 1 - old);
  booked.from = cut_;
  booked.to = iteration.end;
  booked.rank = said.rank;
  booked.steps = said.steps;
  booked.last_step = iteration.first_step + said.steps - 1;
  out.push_back(booked);
  note_booked(iteration);
  if (logged > 0) work_ = logged;
  free_ = held_.extract(held_.begin());
  front_learnt_ = false;
  if (learnt_ > 0) --learnt_;
  return true;
}

double JobIterations::patience(const CleanPace& pace) const {
  return std::max({kShortestPatience, kPatientSteps * due(pace), kPatientPauses * longest_});
}

double JobIterations::clean_of_unbooked(const StagePaces& stages, const IterationContext& context,
                                        std::uint32_t stage) const {
  const CleanPace* const pace = stages.find(stage);
  if (pace != nullptr && pace->known()) return pace->clean();
  std::vector<double> paces;
  Time before = kNoTime;
  const auto see = [&](const JobIteration& iteration) {
    if (before != kNoTime && context.place_of(iteration).stage == stage)
      paces.push_back(seconds_between(before, iteration.end) / scale_of(iteration));
    before = iteration.end;
  };
  for (const auto& [number, iteration] : held_) see(iteration);
  for (const auto& [number, iteration] : open_) see(iteration);
  return paces.empty() ? stages.latest().clean() : median_of(std::move(paces));
}

void JobIterations::add_unbooked(const JobIteration& iteration, double due,
                                 const IterationContext& context, Unbooked& unbooked) const {
  const RankIteration& said = iteration.last;
  if (unbooked.cut == kNoTime) {
    const Time begin =
        iteration.begin == kNoTime ? iteration.end - from_seconds(due) : iteration.begin;
    unbooked.cut = std::max(context.begin, std::min(begin, iteration.end));
    unbooked.book[LifePart::startup] += seconds_between(context.begin, unbooked.cut);
  }
  double left = seconds_between(unbooked.cut, iteration.end);
  const double old = static_cast<double>(context.old_steps(iteration)) / said.steps;
  const auto take = [&left, &unbooked, old](LifePart part, double seconds) {
    seconds = std::clamp(seconds, 0.0, left);
    unbooked.book[part] += seconds * (1 - old);
    unbooked.book[LifePart::redone] += seconds * old;
    left -= seconds;
  };
  take(LifePart::checkpoint, said.checkpoint);
  take(LifePart::evaluation, said.evaluation);
  if (unbooked.warm) take(LifePart::input_wait, said.wait);
  const double excess = left > kSurelyMore * due ? left - due : 0;
  take(LifePart::training, left - excess);
  unbooked.warm = unbooked.warm || excess <= 0;
  take(unbooked.warm ? said.unexplained() : LifePart::startup, excess);
  unbooked.cut = std::max(unbooked.cut, iteration.end);
}

PartSeconds JobIterations::provisional(const StagePaces& paces, const IterationContext& context,
                                       const Rest& rest) const {
  Unbooked unbooked{{}, cut_, warm_};
  StageHistory::Place place = context.stages->at(cut_ == kNoTime ? rest.until : cut_);
  double clean = clean_of_unbooked(paces, context, place.stage);
  const auto add = [&](const JobIteration& iteration) {
    const std::uint32_t before = place.stage;
    place = context.place_of(iteration);
    if (place.stage != before) clean = clean_of_unbooked(paces, context, place.stage);
    add_unbooked(iteration, clean * scale_of(iteration) * place.work, context, unbooked);
  };
  for (const auto& [number, iteration] : held_) add(iteration);
  for (const auto& [number, iteration] : open_) add(iteration);
  PartSeconds& book = unbooked.book;
  if (unbooked.cut == kNoTime) {
    const LifePart part = context.done_without_steps ? LifePart::training : LifePart::startup;
    book[part] += seconds_between(context.begin, rest.until);
    return book;
  }
  double tail = seconds_between(unbooked.cut, rest.until);
  const auto take = [&tail, &book](LifePart part, double seconds) {
    seconds = std::clamp(seconds, 0.0, tail);
    book[part] += seconds;
    tail -= seconds;
  };
  take(LifePart::checkpoint, rest.marks.checkpoint_gap ? tail : rest.marks.checkpoint);
  take(LifePart::evaluation, rest.marks.evaluation_gap ? tail : rest.marks.evaluation);
  const double due = clean * last_scale_;
  if (tail > patience(paces.latest())) {
    take(LifePart::training, due);
    take(LifePart::stalled, tail);
  } else if (rest.ended) {
    take(LifePart::unattributed, tail);
  } else {
    take(LifePart::training, due);
    take(LifePart::unattributed, tail);
  }
  return book;
}

void JobIterations::state(StateIo& io) {
  io(open_);
  io(held_);
  io(barriers_);
  io(ranks_);
  io(closed_);
  io(closed_any_);
  io(front_learnt_);
  io(learnt_);
  io(cut_);
  io(last_end_);
  io(noises_);
  io(common_);
  io(common_barriers_);
  io(common_known_);
  io(skew_);
  io(apart_);
  io(warming_);
  io(warm_);
  io(booked_);
  io(work_);
  io(longest_);
  io(last_scale_);
  io(own_seconds_);
  io(own_steps_);
  if (noises_.size() > kNoises) io.fail();
  learnt_ = std::min(learnt_, static_cast<std::uint32_t>(held_.size()));
  if (!is_possible(cut_) || !is_possible(last_end_)) io.fail();
}

}  // namespace trainwatch
