// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ledger/ledger.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/analysis/core/metric_families.h"
#include "pipeline/analysis/table_cells.h"

namespace trainwatch {
namespace {

constexpr std::string_view kRunRows = "ledger/";
constexpr std::string_view kRankRows = "ledger_rank/";
constexpr std::string_view kWallTimeRows = "ledger_wall_time/";
constexpr const char* kClockRow = "ledger_clock";

bool any_part(LifePart) {
  return true;
}

// One value by part.
struct PartFamily {
  const char* name;
  const char* help;
  MetricType type;
  const char* label;
  bool (*has)(LifePart part);
  const PartSeconds& (*of)(const RunLedger& run, const Life& life);

  void add(const Labels& labels, const PartSeconds& parts, MetricFamily& to) const {
    for (std::size_t i = 0; i < kLifeParts; ++i) {
      const auto part = static_cast<LifePart>(i);
      if (has(part))
        to.points.push_back({with(labels, label, to_string(part)), parts[part], {}, 0});
    }
  }
};

const PartSeconds& booked_of(const RunLedger& run, const Life&) {
  return run.booked();
}
const PartSeconds& booked_by_ranks_of(const RunLedger& run, const Life&) {
  return run.booked_by_ranks();
}
const PartSeconds& open_of(const RunLedger&, const Life& life) {
  return life.open;
}

constexpr PartFamily kPartFamilies[] = {
    {"trainwatch_run_seconds_total",
     "Wall time of the run by part, as far as it is booked: it only grows. With "
     "trainwatch_run_open_seconds it is all of it.",
     MetricType::counter, "part", any_part, booked_of},
    {"trainwatch_run_open_seconds",
     "Wall time of the run by part that is not booked yet and may move.", MetricType::gauge, "part",
     any_part, open_of},
    {"trainwatch_run_gpu_seconds_total",
     "trainwatch_run_seconds_total times the ranks of the attempt.", MetricType::counter, "part",
     any_part, booked_by_ranks_of},
    {"trainwatch_lost_gpu_seconds_total",
     "Deprecated: the causes in trainwatch_run_gpu_seconds_total.", MetricType::counter, "cause",
     is_trouble, booked_by_ranks_of},
};

// One value; nullopt: it is not known.
struct RunFamily {
  const char* name;
  const char* help;
  MetricType type;
  std::optional<double> (*of)(const RunLedger& run, const Life& life);
};

constexpr RunFamily kRunFamilies[] = {
    {"trainwatch_goodput_ratio", "New steps at the clean pace, of the wall time of the run.",
     MetricType::gauge,
     [](const RunLedger&, const Life& life) { return std::optional(life.goodput()); }},
    {"trainwatch_attempts_total", "Attempts that have begun.", MetricType::counter,
     [](const RunLedger& run, const Life&) {
       return std::optional(static_cast<double>(run.attempts_begun()));
     }},
    {"trainwatch_training_step", "The last step.", MetricType::gauge,
     [](const RunLedger&, const Life& life) {
       const bool known = life.step != kNoStep;
       return known ? std::optional(static_cast<double>(life.step)) : std::nullopt;
     }},
    {"trainwatch_run_own_seconds_total",
     "What the rank did that came last with its own work, by iteration; compare nodes that "
     "different daemons watch by it.",
     MetricType::counter,
     [](const RunLedger&, const Life& life) { return std::optional(life.own_seconds); }},
    {"trainwatch_run_own_steps_total", "Steps of trainwatch_run_own_seconds_total.",
     MetricType::counter,
     [](const RunLedger&, const Life& life) { return std::optional(life.own_steps); }},
    {"trainwatch_training_seconds_total",
     "Deprecated: the sum of trainwatch_run_gpu_seconds_total.", MetricType::counter,
     [](const RunLedger& run, const Life&) {
       return std::optional(run.booked_by_ranks().total());
     }},
};

}  // namespace

RunLedger* Ledger::find(SubjectId subject) {
  const auto known = runs_.find(jobs_.of(subject));
  return known == runs_.end() ? nullptr : &known->second;
}

// Null: there is no room.
RunLedger* Ledger::run_of(SubjectId subject) {
  const SubjectId job = jobs_.of(subject);
  const auto known = runs_.find(job);
  if (known != runs_.end()) return &known->second;
  if (runs_.size() == kMost) {
    const auto over = std::ranges::find_if(runs_, [this](const auto& run) {
      return !trainwatch::goes_on(run.second.life(clock_).state);
    });
    if (over == runs_.end()) return nullptr;
    changed_runs_.add(over->first);
    note_all_ranks(over->second);
    forgotten_[over->first] = std::move(over->second.wall_time());
    runs_.erase(over);
  }
  return &runs_[job];
}

RunLedger::Writer Ledger::writer(SubjectId subject) const {
  return {subject, interner_.subjects[subject].rank};
}

void Ledger::note_all_ranks(const RunLedger& run) {
  for (const Attempt& attempt : run.attempts()) {
    for (const auto& [rank, state] : attempt.ranks()) changed_ranks_.add(rank);
  }
}

void Ledger::advance(SubjectId job, RunLedger& run, bool may_end) {
  run.advance(clock_, &judge_, may_end);
  changed_runs_.add(job);
  ends_may_differ_ = ends_may_differ_ || run.end_may_differ();
  if (run.take_all_changed()) note_all_ranks(run);
}

bool Ledger::on(const Span& span) {
  if (span.origin != Origin::timeline) return false;
  const bool counts = RunLedger::counts(span);
  const bool trains = span.kind == SpanKind::step || phase_of(span.kind).has_value();
  if (!counts && !trains) return false;
  RunLedger* const run = counts ? run_of(span.subject) : find(span.subject);
  if (run == nullptr) return false;
  const RunLedger::Writer rank = writer(span.subject);
  const bool goes_on = trains && run->reopened(rank);
  if (counts) run->on(rank, span, clock_);
  if (counts || goes_on) changed_ranks_.add(span.subject);
  return goes_on;
}

void Ledger::on(const Step& step) {
  RunLedger* const run = run_of(step.subject);
  if (run == nullptr) return;
  if (run->is_replaced_by(step.origin, step.weak)) note_all_ranks(*run);
  run->on(writer(step.subject), step, clock_);
  changed_ranks_.add(step.subject);
  advance(jobs_.of(step.subject), *run);
}

void Ledger::on_complete(const Step& step) {
  if (RunLedger* const run = find(step.subject)) run->amend(writer(step.subject), step);
}

void Ledger::on(const Scalar& scalar) {
  const bool work =
      scalar.kind == ScalarKind::tflops_per_gpu || scalar.kind == ScalarKind::tokens_per_second;
  const bool record = scalar.kind == ScalarKind::loss && scalar.timed && !scalar.of_epoch;
  if (!work && !record && scalar.kind != ScalarKind::total_steps) return;
  RunLedger* const run = run_of(scalar.subject);
  if (run == nullptr) return;
  if (work) run->work(scalar.subject, scalar.step, scalar.value);
  if (record) run->record(writer(scalar.subject), scalar.step, scalar.at, clock_);
  const bool total = scalar.kind == ScalarKind::total_steps && scalar.value > 0 &&
                     scalar.value < 1e15 && run->takes(Origin::log, scalar.of_epoch);
  if (total) run->total_steps(static_cast<std::int64_t>(scalar.value));
}

void Ledger::on(SubjectId rank, const WorkChange& change) {
  RunLedger* const run = find(rank);
  if (run == nullptr) return;
  run->on(rank, change);
  changed_runs_.add(jobs_.of(rank));
}

void Ledger::on(const SourceNote& note) {
  RunLedger* const run = find(note.subject);
  if (run == nullptr) return;
  if (note.kind == SourceNote::Kind::timeline_closed) run->closed(writer(note.subject));
  changed_ranks_.add(note.subject);
  advance(jobs_.of(note.subject), *run);
}

void Ledger::on(const RunNote& note) {
  if (note.at < Time{}) return;
  RunLedger* const run = run_of(note.subject);
  if (run == nullptr) return;
  run->on(writer(note.subject), note, clock_);
  changed_ranks_.add(note.subject);
  advance(jobs_.of(note.subject), *run);
}

void Ledger::name(SubjectId job, std::string_view id) {
  RunLedger* const run = run_of(job);
  if (run == nullptr) return;
  run->name(id);
  changed_runs_.add(jobs_.of(job));
}

void Ledger::written(SubjectId job, Time at) {
  const auto run = runs_.find(job);
  if (run == runs_.end()) return;
  run->second.written(at);
  changed_runs_.add(job);
}

void Ledger::read(SubjectId job, Time written) {
  const auto run = runs_.find(job);
  if (run != runs_.end()) run->second.read(written, clock_);
}

void Ledger::wrote_checkpoint(SubjectId rank, Time at) {
  if (RunLedger* const run = find(rank)) run->wrote_checkpoint(at);
}

void Ledger::gone(SubjectId rank) {
  RunLedger* const run = find(rank);
  if (run == nullptr) return;
  run->vanished(writer(rank));
  changed_ranks_.add(rank);
}

std::vector<Ledger::Ended> Ledger::tick(Time now) {
  // It stands while a history is being read, and whether it does the first tick cannot know.
  const Time before = std::exchange(clock_.now, std::max(clock_.now, now));
  if (before == kNoTime || now <= before) return {};
  ++clock_.second;
  for (auto& [job, run] : runs_) {
    if (!run.rests()) advance(job, run, true);
  }
  return newly_ended();
}

std::vector<Ledger::Ended> Ledger::end_of_input(const JobTimes& times) {
  clock_.at_end = true;
  ends_may_differ_ = true;
  // Of several runs the newest says what time it is: what was silent for long before is over.
  Time newest = kNoTime;
  for (const auto& [job, run] : runs_) newest = std::max(newest, run.latest());
  for (auto& [job, run] : runs_) {
    const bool is_old = !run.empty() && newest - run.latest() > kGoneAfter;
    run.stood_still_until(is_old ? newest : times.latest(job));
    advance(job, run, true);
  }
  return newly_ended();
}

std::vector<Ledger::Ended> Ledger::newly_ended() {
  std::vector<Ended> ended;
  for (auto& [job, run] : runs_) {
    if (!run.take_ended()) continue;
    const Life life = run.life(clock_);
    ended.push_back({job, life.until, life.state == LifeState::gone});
    changed_runs_.add(job);
  }
  return ended;
}

std::vector<RunEnding> Ledger::take_endings() {
  std::vector<RunEnding> found;
  if (!std::exchange(ends_may_differ_, false)) return found;
  for (auto& [job, run] : runs_) {
    for (RunEnding& ending : run.take_endings(clock_)) {
      ending.job = job;
      found.push_back(std::move(ending));
      changed_runs_.add(job);
    }
  }
  return found;
}

bool Ledger::takes(const Step& step) {
  const RunLedger* const run = find(step.subject);
  return run == nullptr || run->takes(step.origin, step.weak);
}

bool Ledger::is_open(SubjectId subject) {
  const RunLedger* const run = find(subject);
  return run != nullptr && !run->empty() && !run->ended();
}

bool Ledger::is_over(SubjectId subject, Time time) {
  if (runs_.empty()) return false;
  const RunLedger* const run = find(subject);
  return run != nullptr && run->ended() && *run->ended() < time;
}

void Ledger::on(const CycleSummary& cycle) {
  if (cycle.activities == 0) return;
  if (RunLedger* const run = run_of(cycle.subject)) run->on(cycle);
}

Life Ledger::life(SubjectId job) const {
  const auto known = runs_.find(job);
  return known == runs_.end() ? Life{} : known->second.life(clock_);
}

void Ledger::save(StateRows& rows, bool all) {
  rows.put(kClockRow, [this](StateIo& io) {
    io(clock_.now);
    io(clock_.second);
  });
  if (all) {
    for (const auto& [job, run] : runs_) {
      changed_runs_.add(job);
      note_all_ranks(run);
    }
  }
  for (auto& [job, wall_time] : forgotten_)
    wall_time.remove(rows, id_row(kWallTimeRows, job) + "/");
  forgotten_.clear();
  changed_runs_.take([&](SubjectId job) {
    const auto run = runs_.find(job);
    if (run == runs_.end()) return rows.remove(id_row(kRunRows, job));
    rows.put(id_row(kRunRows, job), [&run](StateIo& io) { io(run->second); });
    run->second.wall_time().save(rows, id_row(kWallTimeRows, job) + "/", all);
  });
  changed_ranks_.take([&](SubjectId subject) {
    const std::string key = id_row(kRankRows, subject);
    RunLedger* const run = find(subject);
    if (run == nullptr || !run->knows(subject)) return rows.remove(key);
    rows.put(key, [&](StateIo& io) { run->rank_state(io, subject); });
  });
}

bool Ledger::load_rank(const SavedState& saved, std::string_view digits, std::string_view value) {
  const auto subject = saved.subject(digits);
  if (!subject) return true;
  if (!is_known(interner_, *subject)) return false;
  RunLedger* const run = find(*subject);
  if (run == nullptr) return true;
  StateIo io = saved.open(value);
  run->rank_state(io, *subject);
  return io.complete();
}

bool Ledger::load(const SavedState& saved) {
  if (!saved.rows.contains(kClockRow)) return true;  // of a version that had no ledger
  const bool clock = load_row(saved, kClockRow, [this](StateIo& io) {
    io(clock_.now);
    io(clock_.second);
    if (!is_possible(clock_.now)) io.fail();
  });
  const bool runs =
      clock && for_rows(saved, kRunRows, [&](std::string_view digits, std::string_view value) {
        const auto job = saved.subject(digits);
        if (!job) return true;
        if (!is_known(interner_, *job) || runs_.size() == kMost) return false;
        StateIo io = saved.open(value);
        io(runs_[*job]);
        return io.complete() && runs_[*job].wall_time().load(
                                    saved, std::string(kWallTimeRows).append(digits).append("/"));
      });
  const bool ranks =
      runs && for_rows(saved, kRankRows, [&](std::string_view digits, std::string_view value) {
        return load_rank(saved, digits, value);
      });
  for (auto& [job, run] : runs_) run.loaded();
  return ranks;
}

void Ledger::collect(std::vector<MetricFamily>& out) const {
  std::vector<MetricFamily> families;
  for (const PartFamily& each : kPartFamilies)
    families.push_back(family(each.name, each.help, each.type));
  for (const RunFamily& each : kRunFamilies)
    families.push_back(family(each.name, each.help, each.type));
  MetricFamily state =
      family("trainwatch_run_state", "1: the run is in this state.", MetricType::gauge);
  MetricFamily end = family("trainwatch_run_end_info", "How the run ended.", MetricType::gauge);
  for (const auto& [job, run] : runs_) {
    if (run.empty()) continue;
    const Life life = run.life(clock_);
    const Labels labels = labels_of(interner_, job);
    auto next = families.begin();
    for (const PartFamily& each : kPartFamilies) each.add(labels, each.of(run, life), *next++);
    for (const RunFamily& each : kRunFamilies) {
      const auto value = each.of(run, life);
      if (value) next->points.push_back({labels, *value, {}, 0});
      ++next;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(LifeState::count_); ++i) {
      const auto each = static_cast<LifeState>(i);
      state.points.push_back(
          {with(labels, "state", to_string(each)), each == life.state ? 1.0 : 0.0, {}, 0});
    }
    if (life.end)
      end.points.push_back({with(labels, "class", to_string(life.end->how.what)), 1, {}, 0});
  }
  std::ranges::move(families, std::back_inserter(out));
  out.push_back(std::move(state));
  out.push_back(std::move(end));
}

}  // namespace trainwatch
