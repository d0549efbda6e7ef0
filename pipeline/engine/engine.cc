// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/engine.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pipeline/cycle/cycle_summary.h"
#include "pipeline/engine/cause_words.h"
#include "pipeline/engine/verdict_check.h"
#include "pipeline/hang/silent_ranks.h"
#include "trainwatch/gpu_report.h"
#include "trainwatch/tensor.h"

namespace trainwatch {

namespace {

// Events of a batch that are worth waking another thread: they take about a millisecond.
constexpr std::size_t kLargeBatch = 512;

}  // namespace

Engine::Engine(std::vector<RuleConfig> rules, AnalysisList analyses, RunBoth run_both)
    : run_both_(std::move(run_both)),
      host_(std::make_unique<RuleHost>(std::move(rules), interner_, outputs(), &system_,
                                       &checkpoints_, &pauses_)),
      analyses_(std::move(analyses), interner_) {}

Engine::~Engine() = default;

void Engine::push(std::span<const Event> events) {
  const auto analyse = [this, events] { analyses_.push(events); };
  const auto judge = [this, events] { this->judge(events); };
  if (run_both_ != nullptr && events.size() >= kLargeBatch && !analyses_.analyses().empty()) {
    return run_both_(analyse, judge);
  }
  judge();
  analyse();
}

void Engine::judge(std::span<const Event> events) {
  causes_may_differ_ = true;
  for (const Event& event : events) {
    if (const auto* sample = std::get_if<Sample>(&event)) {
      on(*sample);
    } else if (const auto* span = std::get_if<Span>(&event)) {
      on(*span);
    } else if (const auto* scalar = std::get_if<Scalar>(&event)) {
      on(*scalar);
    } else if (const auto* note = std::get_if<SourceNote>(&event)) {
      on(*note);
    }
  }
  report_endings();
  ledger_.take_lost([this](const LostInterval& lost) { history_.on(lost); });
  pending_causes_.settle_sampled([this](const PendingCauses::Entry& entry) {
    if (!attribution_.settled(entry.verdict, entry.key.subject)) return false;
    explain(entry);
    return true;
  });
}

std::uint64_t Engine::announce(RunNote note) {
  notes_.push_back(std::move(note));
  return first_note_ + notes_.size() - 1;
}

void Engine::on(const SourceNote& note) {
  if (note.subject != SubjectId::none) last_seen_.saw(note.subject);
  if (note.kind != SourceNote::Kind::run_note) {
    ledger_.on(note);
    return host_->on(note);
  }
  // Those whose event was lost on the way are passed over.
  while (next_note_ < notes_.size() && first_note_ + next_note_ <= note.number) {
    const std::size_t place = next_note_++;
    if (first_note_ + place == note.number) on(notes_[place]);
  }
  if (next_note_ < notes_.size()) return;
  first_note_ += notes_.size();
  notes_.clear();
  next_note_ = 0;
}

void Engine::on(const RunNote& note) {
  if (note.subject != SubjectId::none) saw(note.subject, note.at);
  const bool checkpoint = note.kind == RunNote::Kind::checkpoint;
  if (checkpoint || note.kind == RunNote::Kind::evaluation) {
    on_logged_pause(note.subject, note.at, note.seconds,
                    checkpoint ? SpanKind::checkpoint : SpanKind::evaluation);
  }
  if (note.kind == RunNote::Kind::launched) logged_steps_.launched(note.subject);
  if (note.xid) return host_->on(GpuReport{note.subject, note.at, *note.xid});
  ledger_.on(note);
}

// A log shows that training paused on purpose, between two of its records, up to then.
void Engine::on_logged_pause(SubjectId subject, Time to, double seconds, SpanKind kind) {
  Span pause;
  pause.duration = std::min(from_seconds(std::max(seconds, 0.0)), std::max(to - Time{}, Nanos{}));
  pause.start = to - pause.duration;
  pause.subject = subject;
  pause.kind = kind;
  pause.origin = Origin::log;
  host_->on(pause);
}

void Engine::saw(SubjectId subject, Time time) {
  latest_ = std::max(latest_, time);
  job_times_.saw(subject, time);
}

void Engine::collect_metrics(Cardinality cardinality, std::vector<MetricFamily>& out) const {
  MetricsView view{cardinality};
  book_.each_closed([&view](const Alert& alert) { view.alerted.add(alert); });
  book_.each_firing([&view](std::uint32_t, const Alert& alert) { view.alerted.add(alert); });
  metrics_.collect(view, out);
  latest_samples_.collect(view, out);
  scalar_metrics_.collect(view, out);
  gpu_metrics_.collect(view, out);
}

void Engine::on(CheckpointWrite write) {
  checkpoints_.on(std::move(write));
  host_->wake();
}

void Engine::on(const Sample& sample) {
  saw(interner_.series[sample.series].subject, sample.at);
  last_seen_.saw(sample.series);
  latest_samples_.on(sample);
  system_.on(sample);
  if (!pending_causes_.empty()) {
    pending_causes_.note_sampled(interner_.series[sample.series].subject);
  }
  host_->on(sample);
  history_.on(sample);
}

void Engine::on(const Span& span) {
  saw(span.subject, span.end());
  last_seen_.saw(span.subject);
  metrics_.on(span);
  spans_.on(span);
  pauses_.on(span);
  if (ledger_.on(span)) {
    const SourceNote note{span.end(), {}, SourceNote::Kind::timeline_goes_on, span.subject};
    host_->on(note);
  }
  host_->on(span);
  history_.on(span);
  if (const auto step = iterations_.on(span)) on(*step);
  on_complete_steps();
}

void Engine::on(const Scalar& scalar) {
  saw(scalar.subject, scalar.at);
  last_seen_.saw(scalar.subject);
  scalar_metrics_.on(scalar);
  ledger_.on(scalar);
  history_.on(scalar);
  host_->on(scalar);
  if (scalar.kind == ScalarKind::validation_loss && scalar.timed) {
    RunNote evaluated;
    evaluated.kind = RunNote::Kind::evaluation;
    evaluated.at = scalar.at;
    evaluated.subject = scalar.subject;
    on(evaluated);
  }
  const auto step = logged_steps_.on(scalar);
  if (const auto& change = logged_steps_.work_change()) {
    const std::string& job = interner_.subjects[scalar.subject].job;
    iterations_.on(*change, scalar.at,
                   [&](SubjectId rank) { return interner_.subjects[rank].job == job; });
    ledger_.on(scalar.subject, *change);
  }
  on_complete_logged_steps();
  if (step && ledger_.takes(*step)) on_logged(*step);
}

void Engine::read_to_end(SubjectId subject) {
  const std::vector<Step> steps = logged_steps_.read_to_end(subject);
  for (const Step& step : steps) {
    if (!ledger_.takes(step)) continue;
    on_logged(step);
    if (&step != &steps.back()) on_complete_step(step);
  }
}

void Engine::name_run(const std::string& job, std::string_view id) {
  const auto subject = interner_.subjects.intern({job, "", kNoRank, ""});
  if (!subject) return;
  last_seen_.saw(*subject);
  ledger_.name(*subject, id);
}

void Engine::written(const std::string& job, Time at) {
  ledger_.written(interner_.subjects.find({job, "", kNoRank, ""}), at);
}

void Engine::read(const std::string& job, Time written) {
  ledger_.read(interner_.subjects.find({job, "", kNoRank, ""}), written);
}

void Engine::on_logged(const Step& step) {
  saw(step.subject, step.end());
  if (step.duration == Nanos{}) return ledger_.on(step);  // nothing says when it was
  step_feed_.add(step);
  metrics_.on(step);
  ledger_.on(step);
  if (const auto written = step.is_single() ? checkpoints_.during(step) : std::nullopt) {
    host_->on(*written);
  }
  judge(step);
  if (!logged_steps_.is_last(step)) return;
  const SourceNote end{step.end(), {}, SourceNote::Kind::timeline_closed, step.subject};
  ledger_.on(end);
  host_->on(end);
}

void Engine::on(const Step& step) {
  if (step.origin == Origin::timeline) note_pause(step);
  step_feed_.add(step);
  metrics_.on(step);
  ledger_.on(step);
  if (const auto written = checkpoints_.during(step)) {
    ledger_.wrote_checkpoint(step.subject, written->end());
    const bool marked =
        spans_.overlap(step.subject, written->kind, step.begin, step.end()) > Nanos{};
    if (!marked) spans_.on(*written);
    if (!marked) host_->on(*written);
    if (!marked) history_.on(*written);
  }
  judge(step);
}

void Engine::judge(const Step& step) {
  step_attempt_ = step.attempt;
  if (step.opens_attempt) {
    Step opening = step;
    opening.world = world_of(step.subject);
    host_->on(opening);
  } else {
    host_->on(step);
  }
  step_attempt_ = 0;
}

std::uint32_t Engine::world_of(SubjectId rank) const {
  const std::string& job = interner_.subjects[rank].job;
  const auto run = ledger_.runs().find(interner_.subjects.find({job, "", kNoRank, ""}));
  return run == ledger_.runs().end() ? 0 : run->second.world_size();
}

// The other ranks wait while one does not train for long, or waits for its data.
void Engine::note_pause(const Step& step) {
  if (to_seconds(step.iteration()) < 2 * step.pace.usual) return;
  const bool hides = step.forward > Nanos{} && step.backward == Nanos{};
  const Nanos own =
      std::max({hides ? Nanos{} : step.between(), step.data_wait, step.outside_phases()});
  if (own * 2 < step.iteration() || to_seconds(own) < 2 * step.pace.usual) return;
  pauses_.paused(step.subject, step.begin, step.begin + own);
}

void Engine::on_complete_steps() {
  for (const Step& step : iterations_.completed()) on_complete_step(step);
}

// A job that has a timeline or profiler traces has better ones.
void Engine::on_complete_logged_steps() {
  for (const Step& step : logged_steps_.completed()) {
    if (ledger_.takes(step)) on_complete_step(step);
  }
}

void Engine::on_complete_step(const Step& step) {
  if (step.duration == Nanos{}) return;
  ledger_.on_complete(step);
  history_.on(step);
  step_attempt_ = step.attempt;
  host_->on_complete(step);
  step_attempt_ = 0;
}

void Engine::on(const CycleTrace& cycle) {
  last_seen_.saw(cycle.subject);
  CycleSummary summary;
  {  // its list of rows is large and not needed afterwards
    const SelectedCycle selected(cycle, StepSelection::included);
    summary = summarize(selected);
    gpu_metrics_.on(selected, summary);
  }
  cycles_.on(summary);
  ledger_.on(summary);
  on(summary);
  analyses_.on(cycle);
}

void Engine::on(const CycleSummary& cycle) {
  host_->on(cycle);
}

void Engine::on(const std::string& job, RankDump dump) {
  const auto subject = interner_.subjects.intern({job, "", kNoRank, ""});
  if (!subject) return;
  last_seen_.saw(*subject);
  hangs_.add(*subject, std::move(dump));
  on_hangs(hangs_.take_complete());
}

void Engine::on(const Tensor& tensor) {
  saw(tensor.subject, tensor.at);
  last_seen_.saw(tensor.subject);
  host_->on(tensor);
}

// Dumps may follow: what lines say is judged when no more come.
void Engine::on(const std::string& job, WatchdogLine line) {
  const auto subject = interner_.subjects.intern({job, "", kNoRank, ""});
  if (!subject) return;
  last_seen_.saw(*subject);
  hangs_.add(*subject, std::move(line));
}

void Engine::on_hangs(std::vector<HangFinding> findings) {
  for (HangFinding& finding : findings) {
    const auto run = ledger_.runs().find(finding.job);
    name_silent_ranks(finding, run == ledger_.runs().end() ? 0 : run->second.world_size());
    host_->on(finding);
  }
}

void Engine::tick(Time now) {
  on_hangs(hangs_.take_settled(now));
  // What has ended does not stand still.
  const std::vector<Ledger::Ended> ended = ledger_.tick(now);
  report_endings();
  end(ended);
  host_->tick(now);
}

std::vector<RankProcess> Engine::writers() {
  std::vector<RankProcess> found;
  for (const auto& [rank, process] : iterations_.processes()) {
    if (ledger_.is_open(rank)) found.push_back({rank, process});
  }
  return found;
}

void Engine::writer_gone(const RankProcess& writer) {
  ledger_.gone(writer.rank);
  host_->on(SourceNote{latest(writer.rank), {}, SourceNote::Kind::process_gone, writer.rank});
}

void Engine::report_endings() {
  ledger_.take_iterations([this](const BookedIteration& iteration) { host_->on(iteration); });
  for (const RunEnding& ending : ledger_.take_endings()) host_->on(ending);
}

// What their alerts are about is over.
void Engine::end(const std::vector<Ledger::Ended>& runs) {
  for (const Ledger::Ended& run : runs) {
    book_.end_job(interner_.subjects[run.job].job, host_->rules(), run.at,
                  run.gone ? EndedBecause::run_gone : EndedBecause::run_ended);
  }
  if (!runs.empty()) host_->want_times(book_.waiting());
}

void Engine::end_of_input() {
  causes_may_differ_ = true;
  iterations_.finish();
  on_complete_steps();
  for (const SubjectId subject : logged_steps_.holding()) read_to_end(subject);
  logged_steps_.finish();
  on_complete_logged_steps();
  on_hangs(hangs_.take_all());
  host_->end_of_input(job_times_);
  const std::vector<Ledger::Ended> ended = ledger_.end_of_input(job_times_);
  report_endings();
  end(ended);
  flush();
  book_.settle();
}

std::vector<Step> Engine::steps_without_waits() const {
  std::vector<Step> found;
  iterations_.each_without_waits([&found](std::span<const Step> steps) {
    found.insert(found.end(), steps.begin(), steps.end());
  });
  return found;
}

// Connects one instance of a rule to the book.
class Engine::RuleOutput final : public Output {
 public:
  RuleOutput(Engine& engine, const AlertBook::Source& source) : engine_(engine), source_(source) {}

  void holds(std::string_view key) override { book().holds(source_, key); }
  void clear(std::string_view key, Time at) override {
    book().clear(source_, key, at);
    want_times();
  }
  void clear_all(Time at) override {
    book().clear_all(source_, at);
    want_times();
  }
  std::uint64_t firings(std::string_view key) const override {
    return engine_.book_.firings(source_, key);
  }
  void restarted(Time time) override {
    book().end(source_, time, EndedBecause::restarted);
    want_times();
  }
  void time_reached(Time time) override {
    book().advance(source_, time);
    want_times();
  }

 protected:
  bool wants(const Condition& condition) override {
    const bool outlives = source_.config->spec->incident.outlives_run;
    if (!outlives && engine_.ledger_.is_over(source_.subject, condition.at)) return false;
    if (condition.severity != Severity::critical || !is_guessed()) {
      return book().fires(source_, condition);
    }
    Condition warns = condition;
    warns.severity = Severity::warning;
    return book().fires(source_, warns);
  }
  void put(Verdict verdict) override {
    if (contradicts_itself(verdict)) {
      book().refuse(source_, verdict.key);
    } else {
      engine_.on_verdict(source_, std::move(verdict));
    }
    want_times();
  }

 private:
  AlertBook& book() { return engine_.book_; }
  // What the rule judges may be something else than it is taken for.
  bool is_guessed() const {
    const RuleSpec& rule = *source_.config->spec;
    const Interest& in = rule.interest;
    return !rule.trusts_guesses && (in.steps || in.complete_steps || in.scalars) &&
           engine_.logged_steps_.is_guessed(source_.subject);
  }
  void want_times() { engine_.host_->want_times(engine_.book_.waiting()); }

  Engine& engine_;
  AlertBook::Source source_;
};

std::unique_ptr<Engine::Output> Engine::make(std::uint32_t rule, const RuleConfig& config,
                                             SubjectId subject, const Lifecycle& lifecycle) {
  return std::make_unique<RuleOutput>(*this, AlertBook::Source{rule, subject, &config, lifecycle});
}

// Of a rule about the steps of a rank: that of the step, or the latest where the clock or the end
// found it.
std::uint32_t Engine::attempt_of(const AlertBook::Source& source) const {
  const RuleSpec& rule = *source.config->spec;
  const bool about_steps = rule.interest.steps || rule.interest.complete_steps;
  if (rule.scope != Scope::rank || !about_steps) return 0;
  return step_attempt_ != 0 ? step_attempt_ : iterations_.attempt(source.subject);
}

void Engine::on_verdict(const AlertBook::Source& source, Verdict verdict) {
  const SubjectId subject = source.subject;
  verdict.attempt = attempt_of(source);
  verdict.own_cause = verdict.cause.name;
  const bool explainable = verdict.window_end > verdict.window_start;
  // Final, as the next cycle replaces this one.
  if (explainable && !attribution_.is_enough(verdict.cause)) {
    const auto cause = cycles_.explain(subject, verdict.window_start);
    if (cause && attribution_.is_enough(*cause)) verdict.cause = *cause;
  }
  if (explainable) attribution_.add_spans(verdict, subject);
  const Verdict before = verdict;
  if (explainable) set_cause(verdict, attribution_.explain(verdict, subject));
  const Alert& alert = book_.apply(source, std::move(verdict));
  if (!explainable || attribution_.settled(before, subject)) return;
  pending_causes_.add({{source.rule, subject, before.key}, alert.id, before});
}

void Engine::explain(const PendingCauses::Entry& entry) {
  book_.refine(entry.key, entry.id, attribution_.explain(entry.verdict, entry.key.subject));
}

void Engine::flush() {
  ledger_.take_lost([this](const LostInterval& lost) { history_.on(lost); });
  if (std::exchange(causes_may_differ_, false)) {
    pending_causes_.settle_all([this](const PendingCauses::Entry& entry) {
      explain(entry);
      return attribution_.settled(entry.verdict, entry.key.subject);
    });
  }
  book_.flush();
}

void Engine::reconfigure(std::vector<RuleConfig> rules) {
  StateRows saved;
  host_->save(saved, true);
  book_.save(saved, host_->rules(), true);
  StoredRows rows;
  for (const auto& [key, value] : saved.changed()) {
    if (value) rows.emplace(key, *value);
  }
  host_ = std::make_unique<RuleHost>(std::move(rules), interner_, outputs(), &system_,
                                     &checkpoints_, &pauses_);
  book_.load(rows, host_->rules(), host_->load(rows), latest_);
  pending_causes_.clear();
  host_->want_times(book_.waiting());
}

}  // namespace trainwatch
