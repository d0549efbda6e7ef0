// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/runs.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "pipeline/analysis/table_cells.h"

namespace trainwatch {
namespace {

constexpr const char* kRunsRow = "runs";
constexpr std::string_view kRankRows = "run_rank/";

// What the alerts that fire say about one job.
struct Trouble {
  Time stalled = kNoTime;  // since then
  Time slow = kNoTime;

  static void earlier(Time& known, Time time) {
    known = known == kNoTime ? time : std::min(known, time);
  }
};

}  // namespace

std::string_view to_string(RunState state) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(RunState::count_)> kNames = {
      "starting", "running", "slow", "stalled", "finished", "gone"};
  return kNames[static_cast<std::size_t>(state)];
}

Time Runs::Run::last_end() const {
  Time last = kNoTime;
  for (const auto& [subject, rank] : ranks) last = std::max(last, rank.last_end);
  return last;
}

Runs::Silence Runs::Run::silence() const {
  Silence silence = Silence::closed;
  for (const auto& [subject, rank] : ranks) {
    if (rank.closed) continue;
    if (!rank.gone) return Silence::none;
    silence = Silence::gone;
  }
  return silence;
}

std::size_t Runs::Run::closed() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(ranks, [](const auto& rank) { return rank.second.closed; }));
}

Runs::Found Runs::find(SubjectId subject) {
  const auto run = runs_.find(jobs_.of(subject));
  if (run == runs_.end()) return {};
  return {&run->second, run->second.ranks.find(subject)};
}

Runs::Run* Runs::run_of(SubjectId subject) {
  const SubjectId job = jobs_.of(subject);
  if (const auto known = runs_.find(job); known != runs_.end()) return &known->second;
  if (runs_.size() == kMost) {
    const auto over =
        std::ranges::find_if(runs_, [](const auto& run) { return run.second.end.has_value(); });
    if (over == runs_.end()) return nullptr;
    note_all_changed(over->second);
    runs_.erase(over);
  }
  return &runs_[job];
}

void Runs::on(const Step& step) {
  if (!step.is_training()) return;
  Run* const run = run_of(step.subject);
  if (run == nullptr) return;
  if (step.origin > run->origin) return;
  if (run->origin != step.origin) {
    if (!run->end) closed_ -= run->closed();
    note_all_changed(*run);
    *run = Run{};
  }
  run->origin = step.origin;
  changed_.add(step.subject);
  Rank& rank = run->ranks[step.subject];
  rank.attempt = step.attempt;
  rank.last_step = step.number;
  rank.last_end = std::max(rank.last_end, step.end());
  if (rank.closed && !run->end) --closed_;
  rank.closed = rank.gone = false;
  rank.seconds_per_step = step.pace.reference > 0 ? step.pace.recent : step.pace.usual;
  run->quiet = 0;
  if (run->end) closed_ += run->closed();
  run->end.reset();
  count(*run, step);
}

bool Runs::counts(const Step& step) {
  const auto run = runs_.find(jobs_.of(step.subject));
  return run == runs_.end() || step.origin <= run->second.origin;
}

void Runs::count(Run& run, const Step& step) {
  std::vector<Attempt>& attempts = run.attempts;
  if (attempts.empty() || step.attempt > attempts.back().number) {
    if (attempts.size() == kAttemptsKept) attempts.erase(attempts.begin());
    attempts.push_back({step.attempt, step.begin, step.end(), step.number, step.number});
  }
  for (Attempt& attempt : attempts) {
    if (attempt.number != step.attempt) continue;
    attempt.begin = std::min(attempt.begin, step.begin);
    attempt.end = std::max(attempt.end, step.end());
    attempt.last_step = std::max(attempt.last_step, step.number);
  }
}

void Runs::on(const SourceNote& note) {
  if (note.kind != SourceNote::Kind::timeline_closed) return;
  const auto [run, rank] = find(note.subject);
  if (rank == nullptr) return;
  if (!rank->closed && !run->end) ++closed_;
  rank->closed = true;
  changed_.add(note.subject);
}

bool Runs::reopen(const Span& span) {
  const bool phase = span.kind == SpanKind::step || span.kind == SpanKind::forward ||
                     span.kind == SpanKind::backward || span.kind == SpanKind::optimizer;
  if (!phase || span.origin != Origin::timeline) return false;
  const auto [run, rank] = find(span.subject);
  if (rank == nullptr || run->end || !rank->closed) return false;
  rank->closed = false;
  changed_.add(span.subject);
  run->quiet = 0;
  --closed_;
  return true;
}

void Runs::gone(SubjectId subject) {
  Rank* const rank = find(subject).rank;
  if (rank == nullptr) return;
  rank->gone = true;
  changed_.add(subject);
}

std::vector<Runs::Ended> Runs::tick(Time now) {
  std::vector<Ended> ended;
  for (auto& [job, run] : runs_) {
    if (run.end || ++run.quiet < kQuietSeconds) continue;
    const Silence silence = run.silence();
    const bool gone = (silence == Silence::gone && run.quiet >= kGoneSeconds) ||
                      now - run.last_end() > kGoneAfter;
    if (silence != Silence::closed && !gone) continue;
    closed_ -= run.closed();
    const bool closed = silence == Silence::closed;
    run.end = RunEnd{run.last_end(), closed ? EndedBecause::run_ended : EndedBecause::run_gone};
    ended.push_back({job, *run.end});
  }
  return ended;
}

std::vector<Runs::Ended> Runs::end_of_input(Time latest) {
  for (auto& [job, run] : runs_) run.quiet = kQuietSeconds;
  return tick(latest);
}

bool Runs::is_over(SubjectId subject, Time time) {
  if (runs_.empty()) return false;
  const auto run = runs_.find(jobs_.of(subject));
  return run != runs_.end() && run->second.end && run->second.end->at < time;
}

bool Runs::is_open(SubjectId subject) {
  const auto run = runs_.find(jobs_.of(subject));
  return run != runs_.end() && !run->second.end;
}

void Runs::judge(const AlertBook& book, const std::vector<RuleConfig>& rules) {
  std::map<std::string, Trouble, std::less<>> troubles;  // by job
  book.each_firing([&](std::uint32_t rule, const Alert& alert) {
    if (alert.severity < Severity::warning || rules[rule].spec->incident.specificity == 0) return;
    Trouble& trouble = troubles[alert.subject.job];
    Trouble::earlier(alert.rule == "stall" ? trouble.stalled : trouble.slow, alert.began());
  });
  for (auto& [job, run] : runs_) {
    const auto found = troubles.find(interner_.subjects[job].job);
    const Trouble trouble = found == troubles.end() ? Trouble{} : found->second;
    const auto is_new = [&run = run](RunState state) {
      return run.state != state || run.since == Time{};
    };
    const auto say = [&run = run, &is_new](RunState state, Time since) {
      if (is_new(state)) run.since = since;
      run.state = state;
    };
    const bool warm = std::ranges::any_of(
        run.ranks, [](const auto& rank) { return rank.second.seconds_per_step > 0; });
    if (run.end) {
      const bool gone = run.end->why == EndedBecause::run_gone;
      say(gone ? RunState::gone : RunState::finished, run.end->at);
    } else if (trouble.stalled != kNoTime) {
      say(RunState::stalled, trouble.stalled);
    } else if (trouble.slow != kNoTime) {
      say(RunState::slow, trouble.slow);
    } else if (!warm) {
      say(RunState::starting, run.attempts.back().begin);
    } else if (is_new(RunState::running)) {
      say(RunState::running, run.last_end());
    }
  }
}

void Runs::Attempt::state(StateIo& io) {
  io(number);
  io(begin);
  io(end);
  io(first_step);
  io(last_step);
  if (!is_possible(begin) || !is_possible(end)) io.fail();
}

void Runs::Rank::state(StateIo& io) {
  io(attempt);
  io(last_step);
  io(last_end);
  io(gone);
  io(closed);
  io(seconds_per_step);
  if (!is_possible(last_end)) io.fail();
}

void RunEnd::state(StateIo& io) {
  io(at);
  io(why);
  if (!is_possible(at)) io.fail();
  if (why > EndedBecause::reconfigured) io.fail();
}

void Runs::Run::persist(StateIo& io) {
  io(state);
  io(origin);
  io(since);
  io(attempts);
  io(end);
  if (origin >= Origin::count_) io.fail();
  if (state >= RunState::count_ || attempts.empty() || attempts.size() > kAttemptsKept) io.fail();
}

void Runs::note_all_changed(const Run& run) {
  for (const auto& [subject, rank] : run.ranks) changed_.add(subject);
}

void Runs::save(StateRows& rows, bool all) {
  rows.put(kRunsRow, [this](StateIo& io) { io(runs_); });
  if (all) {
    for (const auto& [job, run] : runs_) note_all_changed(run);
  }
  changed_.take([&](SubjectId subject) {
    const std::string key = id_row(kRankRows, subject);
    if (Rank* const rank = find(subject).rank; rank != nullptr) {
      rows.put(key, [rank](StateIo& io) { io(*rank); });
    } else {
      rows.remove(key);
    }
  });
}

bool Runs::load(const SavedState& saved) {
  const bool whole = load_row(saved, kRunsRow, [this](StateIo& io) {
    io(runs_);
    if (runs_.size() > kMost) io.fail();
    for (const auto& [job, run] : runs_) {
      if (!is_known(interner_, job)) io.fail();
    }
  });
  if (!whole || !for_rows(saved, kRankRows, [&](std::string_view digits, std::string_view value) {
        return load_rank(saved, digits, value);
      })) {
    return false;
  }
  closed_ = 0;
  for (const auto& [job, run] : runs_) {
    if (!run.end) closed_ += run.closed();
  }
  return true;
}

bool Runs::load_rank(const SavedState& saved, std::string_view digits, std::string_view value) {
  const auto subject = saved.subject(digits);
  if (!subject) return true;
  if (!is_known(interner_, *subject)) return false;
  Run* const run = find(*subject).run;
  if (run == nullptr) return true;
  StateIo io = saved.open(value);
  io(run->ranks[*subject]);
  return io.complete();
}

}  // namespace trainwatch
