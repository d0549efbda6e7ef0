// SPDX-License-Identifier: Apache-2.0
// Training stands still; see docs/rules/stall.md.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "rules/format.h"
#include "rules/long_pause.h"
#include "rules/scheduled_pause.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/ring_queue.h"
#include "trainwatch/rule.h"

namespace trainwatch::stall {
namespace {

struct Params {
  double least_seconds = 10;
};

constexpr Nanos kMostPatience = std::chrono::hours(24 * 365);

bool is_patience(Nanos patience) {
  return patience >= Nanos{} && patience <= kMostPatience;
}

// A pause that is over.
struct Gap {
  Time from{};
  Time to{};
  Nanos patience{};
  std::int64_t last_step = kNoStep;
  Nanos data_wait{};               // of the iteration that ended it
  Nanos between{};                 // of the same: neither step nor wait; in a log, not timed
  bool hides_computation = false;  // the steps end with the forward pass
  double usual = 0;                // seconds of an iteration
  bool scheduled = false;          // it is expected to recur, and cheap

  Nanos length() const { return to - from; }
  // So long that it may be on purpose, whatever the training did meanwhile.
  bool is_long() const { return is_long_pause(to_seconds(length()), usual); }
  // Most likely on purpose.
  bool is_pause() const { return scheduled || (between * 2 > length() && is_long()); }
  bool possible() const { return from >= Time{} && to >= from && is_patience(patience); }
};

constexpr std::size_t kMostUndecided = 16;
constexpr std::int64_t kEvaluations = 3;  // that show how long they take
constexpr std::int64_t kStuckTimes = 8;   // as long as the longest
constexpr auto kStuck = std::chrono::minutes(3);
constexpr auto kLateness = std::chrono::seconds(120);     // of samples behind the clock
constexpr std::int64_t kCheapPart = 20;                   // of the time so far: 5 %
constexpr std::int64_t kRoundPatience = 4;                // times the usual one, at most
constexpr std::int64_t kLogTimes = 5;                     // the longest interval of a log
constexpr auto kLogPatience = std::chrono::seconds(300);  // at least: evaluations, buffers
constexpr std::int64_t kCritical = 3;                     // times the patience
constexpr std::int64_t kAtWork = 4;                       // times that, while the node is at work
constexpr double kCriticalTimes = 7.5;                    // the shortest stall, at least
constexpr auto kRankLateness = std::chrono::seconds(5);
constexpr std::int64_t kTimedRecords = 30;  // with times of their own, in a row: a log is current
constexpr double kBuffered = 200;           // of them; 8 KiB of output hold fewer
constexpr double kLeastLogPatience = 60;    // seconds
constexpr double kAsleep = 0.8;     // of a pause without a sample: the whole node was paused
constexpr double kBetween = 0.8;    // of a pause between two steps: no phase of them took longer
constexpr double kIntervals = 1.5;  // times the sampling interval; a shorter silence proves nothing

class Stall final : public Rule {
 public:
  Stall(const Params& params, const RuleContext& context)
      : params_(params),
        interner_(context.interner),
        rank_(context.subject),
        node_(context.node),
        checkpoints_(context.checkpoints),
        pauses_(context.pauses) {}

  void on_step(const Step& step, Verdicts& out) override {
    if (step.origin == Origin::profiler || step.origin > origin_) return;
    if (step.origin < origin_) begin_origin(step.origin, out, step.end());
    // A writer also closes its file to begin the next one, when it writes its next event.
    const bool knows = last_end_ != kNoTime && !step.opens_attempt && !step.opens_epoch;
    const Time active = knows ? last_active(step.end()) : step.end();
    const Nanos silent = step.end() - active;
    if (silent > patience_of_gap() && silent <= kGoneAfter) {
      const Gap gap{.from = active,
                    .to = step.end(),
                    .patience = patience_of_gap(),
                    .last_step = last_step_,
                    .data_wait = step.data_wait,
                    .between = between(step, silent),
                    .hides_computation = step.forward > Nanos{} && step.backward == Nanos{},
                    .usual = step.pace.usual,
                    .scheduled = is_scheduled(step, silent)};
      if (undecided_.size() == kMostUndecided) decide_oldest(out);
      undecided_.push_back(gap);
      if (out.firings("") > 0 && ranks_passed(gap)) decide_oldest(out);
    } else {  // after kGoneAfter it was gone, and is another training now
      out.clear_all(step.end());
    }
    decide(out, step.end(), false);
    if (step.opens_attempt) {
      patience_ = {};
      intervals_ = {};
      timed_ = 0;
      scheduled_.begin_attempt(step.end());
    } else if (last_end_ != kNoTime) {
      intervals_.add(step.end() - last_end_);
    }
    const bool trains = step.is_training();
    timed_ = step.estimated ? 0 : std::min(timed_ + 1, kTimedRecords);
    if (trains) scheduled_.add(step);
    at_round_ = trains && scheduled_.steps().is_round();
    if (step.pace.warm()) {
      patience_[static_cast<std::size_t>(step.mode)] = std::min(
          origin_ == Origin::log ? log_patience(step) : step.pace.patience(), kMostPatience);
    }
    last_end_ = std::max(last_end_, step.end());
    last_step_ = step.number;
    finished_ = false;
    armed_ = false;
  }

  // A pause on purpose, or the start of a loader, now that it is over; of a log, once it shows an
  // evaluation or a checkpoint.
  void on_span(const Span& span, Verdicts& out) override {
    if (span.origin == Origin::profiler) return;
    if (span.kind == SpanKind::evaluation && span.end() > last_end_) judge_evaluation(span, out);
    paused_to_ = std::max(paused_to_, span.end());
  }

  // An evaluation that takes many times as long as the earlier ones hangs.
  void judge_evaluation(const Span& span, Verdicts& out) {
    if (last_end_ == kNoTime) return;
    const Time from = std::max(last_end_, paused_to_);
    const Nanos took = span.end() - from;
    if (evaluations_ >= kEvaluations && took > kStuckTimes * longest_evaluation_ && took > kStuck &&
        took <= kGoneAfter) {
      report(
          {.from = from, .to = span.end(), .patience = patience_of_gap(), .last_step = last_step_},
          out);
      return;
    }
    ++evaluations_;
    longest_evaluation_ = std::clamp<Nanos>(took, longest_evaluation_, kMostPatience / kStuckTimes);
  }

  // Its waits may be in another file.
  void on_complete_step(const Step& step, Verdicts&) override {
    for (Gap& gap : undecided_) {
      if (gap.to == step.end()) gap.data_wait = std::max(gap.data_wait, step.data_wait);
    }
  }

  // The writer has closed its file. Either the training has ended, and the end of its run resolves
  // the alert, or it continues in another file: after a long pause, a writer closes the old file
  // before it writes the next step. There it may stand still before that step has ended. A process
  // that is gone does not stand still either.
  void on_note(const SourceNote& note, Verdicts&) override {
    const bool ends = note.kind == SourceNote::Kind::timeline_closed ||
                      note.kind == SourceNote::Kind::process_gone;
    if (ends) finished_ = last_end_ != kNoTime;
    if (note.kind == SourceNote::Kind::timeline_goes_on) finished_ = false;
  }

  // Only what was read while it was new can stand still now: a file of last week cannot.
  TickResult on_tick(Tick tick, Verdicts& out) override {
    const std::size_t undecided = undecided_.size();
    const bool was_armed = armed_;
    decide(out, tick.now, true);
    const Time next = look_for_stall(tick, out);
    // The process of another rank may end an alert at any time.
    const bool rests = undecided_.empty() && out.firings("") == 0;
    return {undecided_.size() != undecided || armed_ != was_armed, rests ? next : tick.now};
  }

  // Returns when to look again, unless an event comes first.
  Time look_for_stall(Tick tick, Verdicts& out) {
    if (last_end_ == kNoTime || finished_) return Time::max();
    if (has_successor()) {
      out.clear_all(tick.now);
      return Time::max();
    }
    const Time active = last_active(tick.now);
    const Nanos silent = tick.now - active;
    if (silent > kGoneAfter) armed_ = false;
    if (silent <= patience()) {
      armed_ = true;
      return active + patience();
    }
    if (!armed_) return may_be_armed() ? tick.now + patience() / 2 : Time::max();
    if (!is_node_asleep(active, tick.now)) {
      const Gap gap = lasting(active, tick.now);
      out.fires({.at = active + patience(),
                 .severity = severity_of(gap),
                 .amount = static_cast<std::uint64_t>(std::max(to_seconds(silent), 1.0)),
                 .provisional = true},
                [&] { return describe(gap, false); });
    }
    return tick.now;
  }

  // Other files of the job show that time went on, and this one was never closed.
  void on_end(Time latest, Verdicts& out) override {
    while (!undecided_.empty()) decide_oldest(out);
    if (last_end_ == kNoTime || finished_ || has_successor()) return;
    const Time active = last_active(latest);
    if (latest - active <= patience_of_gap() || latest - active > kGoneAfter) return;
    const Gap gap = lasting(active, latest);
    out.fires({.at = active + patience(), .severity = severity_of(gap), .provisional = true},
              [&] { return describe(gap, false); });
  }

  void state(StateIo& io) override {
    io(last_end_);
    io(paused_to_);
    io(last_step_);
    io(patience_);
    io(finished_);
    io(armed_);
    io(timed_);
    io(scheduled_);
    io(at_round_);
    io(origin_);
    io(intervals_);
    io(undecided_);
    io(evaluations_);
    io(longest_evaluation_);
    const bool possible = evaluations_ >= 0 && is_patience(longest_evaluation_) &&
                          undecided_.size() <= kMostUndecided &&
                          std::ranges::all_of(undecided_, &Gap::possible) &&
                          std::ranges::all_of(patience_, is_patience) && is_possible(last_end_) &&
                          is_possible(paused_to_) && timed_ >= 0 && timed_ <= kTimedRecords &&
                          origin_ != Origin::profiler && origin_ < Origin::count_;
    if (!possible) io.fail();
  }

  Lifecycle lifecycle() const override {
    return {.change = Lifecycle::Change::points, .min_change = 1};
  }
  bool warming() const override { return last_end_ == kNoTime; }

 private:
  // The two longest intervals between records of a log. One alone may have been a stall.
  struct Intervals {
    Nanos longest{};
    Nanos second{};

    void add(Nanos interval) {
      if (interval <= second) return;
      second = std::min(interval, longest);
      longest = std::max(interval, longest);
    }
    Nanos patience(Nanos least) const {
      return std::max<Nanos>(kLogTimes * std::min<Nanos>(second, kMostPatience / kLogTimes), least);
    }
    void state(StateIo& io) {
      io(longest);
      io(second);
      if (second < Nanos{} || longest < second) io.fail();
    }
  };

  // Where records have times, silence shows after as many of them as a buffer may hold back.
  Nanos log_patience(const Step& step) const {
    if (timed_ < kTimedRecords) return intervals_.patience(kLogPatience);
    const double interval = step.pace.usual * step.steps;
    const double least =
        std::clamp(kBuffered * interval, kLeastLogPatience, to_seconds(Nanos{kLogPatience}));
    return intervals_.patience(from_seconds(least));
  }

  // A timeline says more than the log that came first.
  void begin_origin(Origin origin, Verdicts& out, Time at) {
    if (last_end_ != kNoTime) out.clear_all(at);
    origin_ = origin;
    undecided_ = {};
    last_end_ = paused_to_ = kNoTime;
    last_step_ = kNoStep;
    armed_ = finished_ = false;
  }

  // The reason for the first long pause of a job is unknown. Logs may also be buffered, and may not
  // show that the job has ended.
  Severity severity_of(const Gap& gap) const {
    return gap.length() > critical_after(gap) ? Severity::critical : Severity::warning;
  }

  // A rank that is known by its process only: a later process of the node has started the training
  // again, or is a rank beside this one, which stands still as well.
  bool has_successor() const {
    const Subject& own = interner_.subjects[rank_];
    if (own.process == kNoProcess) return false;
    for (std::size_t i = 0; i < interner_.subjects.size(); ++i) {
      const Subject& other = interner_.subjects[static_cast<SubjectId>(i)];
      if (other.process > own.process && other.job == own.job && other.node == own.node)
        return true;
    }
    return false;
  }
  // The samples of the node stopped as well, for most of this time and for longer than they
  // usually do.
  bool is_node_asleep(Time from, Time to) const {
    if (node_ == nullptr || !node_->is_sampled(rank_)) return false;
    const Nanos silent = node_->longest_silence(rank_, from, to);
    return to_seconds(silent) >= kAsleep * to_seconds(to - from) &&
           to_seconds(silent) > kIntervals * to_seconds(node_->sampling_interval(rank_, from));
  }

  // A log's own timer may leave out what lies between the steps.
  Nanos between(const Step& step, Nanos silent) const {
    if (origin_ != Origin::log) return step.between();
    return std::max(silent - step.iteration() * static_cast<std::int64_t>(step.steps), Nanos{});
  }
  bool is_scheduled(const Step& step, Nanos silent) {
    if (origin_ == Origin::log) return false;
    const auto cost = scheduled_.cost({.end = step.end(),
                                       .seconds = to_seconds(silent),
                                       .usual = step.pace.usual,
                                       .limit = step.pace.limit,
                                       .between = to_seconds(step.between()),
                                       .before = to_seconds(step.iteration() - step.duration),
                                       .done = scheduled_.steps().done()},
                                      false);
    return cost.between && cost.share < ScheduledPauses::Cost::kMost;
  }

  // A pause is judged when the node's samples have been read beyond it, or will not come.
  void decide(Verdicts& out, Time now, bool by_clock) {
    while (!undecided_.empty()) {
      const Gap& oldest = undecided_.front();
      const bool sampled = node_ != nullptr && node_->is_sampled(rank_);
      const bool awake = !sampled || node_->passed(rank_, oldest.to);
      const bool ranks = ranks_passed(oldest);
      const bool known = sampled && awake && ranks;
      const Nanos late = sampled ? Nanos{kLateness} : ranks ? Nanos{} : Nanos{kRankLateness};
      const bool too_late = by_clock && now - oldest.to > late;
      if (!known && !too_late) return;
      decide_oldest(out);
    }
  }
  void decide_oldest(Verdicts& out) {
    const Gap gap = undecided_.front();
    undecided_.pop_front();
    if (is_of_others(gap)) return out.clear_all(gap.to);
    if (out.firings("") > 0 || !is_node_asleep(gap.from, gap.to)) report(gap, out);
  }
  bool ranks_passed(const Gap& gap) const {
    return pauses_ == nullptr || origin_ == Origin::log || pauses_->passed(rank_, gap.to);
  }
  // Another rank evaluated or saved meanwhile, and this one waited for it.
  bool is_of_others(const Gap& gap) const {
    const Nanos own = std::max(gap.between, gap.data_wait);
    if (pauses_ == nullptr || own * 2 >= gap.length()) return false;
    const Nanos paused = pauses_->of_others(rank_, gap.from, gap.to);
    return paused > Nanos{} && (gap.length() - paused <= gap.patience ||
                                to_seconds(paused) >= kAsleep * to_seconds(gap.length()));
  }
  void report(const Gap& gap, Verdicts& out) const {
    const bool on_purpose = gap.is_pause() && !gap.hides_computation;
    const bool unknown = gap.is_long() && cause_of(gap).name == CauseName::unattributed;
    const bool critical = gap.length() > critical_after(gap) && !on_purpose && !unknown;
    out.fires({.at = gap.from + gap.patience,
               .severity = critical         ? Severity::critical
                           : gap.is_pause() ? Severity::info
                                            : Severity::warning,
               .aspect = 1},
              [&] { return describe(gap, true); });
    out.clear_all(gap.to);
  }
  // A pause of unknown reason may be intended, but hardly one that is much longer, unless the node
  // is at work.
  Nanos critical_after(const Gap& gap) const {
    const Nanos least = from_seconds(kCriticalTimes * params_.least_seconds);
    const Nanos patience = std::min<Nanos>(gap.patience, kMostPatience / kCritical / kAtWork);
    const Nanos sure = std::max<Nanos>(kCritical * patience, least);
    const bool works = gap.length() > sure && node_ != nullptr &&
                       node_->is_at_work(rank_, gap.from, gap.from + sure);
    return works ? kAtWork * sure : sure;
  }
  Gap lasting(Time from, Time now) const {
    return {.from = from, .to = now, .patience = patience(), .last_step = last_step_};
  }
  // When the last step ended, or since then an evaluation or a checkpoint, or a checkpoint file was
  // last written to.
  Time last_active(Time now) const {
    const Time active = std::max(last_end_, std::min(paused_to_, now));
    if (checkpoints_ == nullptr) return active;
    return std::max(active, checkpoints_->latest(rank_, last_end_, now));
  }

  // By a checkpoint, perhaps one whose time is yet to come: clocks of file systems differ.
  bool may_be_armed() const {
    return checkpoints_ != nullptr &&
           checkpoints_->latest(rank_, last_end_, Time::max()) != kNoTime;
  }

  // The longest of all modes: an evaluation may begin at any time. After a round number of steps
  // comes a checkpoint or an evaluation that writes no steps; a cheap one is no stall.
  Nanos patience() const {
    const Nanos longest = *std::ranges::max_element(patience_);
    if (longest == Nanos{}) return Pace{}.patience();
    if (origin_ == Origin::log) return at_round_ ? std::max<Nanos>(longest, kLogPatience) : longest;
    const Nanos usual = std::max(longest, from_seconds(params_.least_seconds));
    if (!at_round_) return usual;
    const Nanos cheap = (last_end_ - scheduled_.began()) / kCheapPart;
    return std::clamp(cheap, usual, kRoundPatience * usual);
  }

  // Of a pause that is over, as no clock shows it. A shorter one of a log is a slow step, for
  // step_spike.
  Nanos patience_of_gap() const {
    return origin_ == Origin::log ? std::max<Nanos>(patience(), kLogPatience) : patience();
  }

  Verdict describe(const Gap& gap, bool over) const {
    const double seconds = to_seconds(gap.length());
    Verdict verdict;
    verdict.window_start = gap.from;
    verdict.since = gap.from;
    verdict.window_end = gap.to;
    verdict.window_lost_seconds = seconds;
    verdict.lost_seconds = seconds;
    verdict.step = gap.last_step;
    verdict.by_step = origin_ == Origin::log;
    verdict.value = seconds;
    verdict.threshold = to_seconds(gap.patience);
    verdict.unit = "seconds";
    const std::string after =
        gap.last_step == kNoStep ? "the last step" : "step " + std::to_string(gap.last_step);
    verdict.summary =
        over ? "Training stood still for " + format::seconds(seconds) + " after " + after + "."
             : "Training stands still: nothing has come for " + format::seconds(seconds) +
                   " since " + after + ".";
    if (origin_ == Origin::log && !over) {
      verdict.summary += " Its log may be held back by a buffer, or the job has ended.";
    }
    JsonWriter json;
    json.begin_object()
        .field("since", to_rfc3339(gap.from))
        .field("last_step", gap.last_step)
        .field("seconds", seconds)
        .field("patience_seconds", to_seconds(gap.patience));
    if (over) {
      json.field("data_wait_seconds", to_seconds(gap.data_wait));
      verdict.cause = cause_of(gap);
    }
    verdict.evidence = json.end_object().take();
    verdict.next =
        "Look whether the process lives and where it waits (py-spy dump, NCCL flight recorder), "
        "and at its storage, its peers and the log of the node.";
    return verdict;
  }

  static Cause cause_of(const Gap& gap) {
    const double waited = to_seconds(gap.data_wait);
    const double length = to_seconds(gap.length());
    const auto share = [length](double part) { return std::clamp(part / length, 0.0, 1.0); };
    if (share(waited) >= 0.5) {
      return {CauseName::input_wait,
              share(waited),
              "It waited " + format::seconds(waited) + " for its input.",
              {}};
    }
    const double between = to_seconds(gap.between);
    if (share(between) < kBetween || gap.hides_computation) return {};
    return {CauseName::host_pause,
            share(between),
            "It was between two steps for " + format::seconds(between) + ".",
            {}};
  }

  Params params_;
  const Interner& interner_;
  SubjectId rank_;
  const NodeActivity* node_;
  const CheckpointActivity* checkpoints_;
  PauseActivity* pauses_;
  RingQueue<Gap> undecided_;      // the oldest first
  std::int64_t evaluations_ = 0;  // so far
  Nanos longest_evaluation_{};
  Time last_end_ = kNoTime;
  Time paused_to_ = kNoTime;  // by a span of an evaluation or a checkpoint
  std::int64_t last_step_ = kNoStep;
  std::array<Nanos, static_cast<std::size_t>(Mode::count_)> patience_{};  // of modes that are known
  ScheduledPauses scheduled_;
  Origin origin_ = Origin::log;  // of the steps that count: timeline, if there is one
  Intervals intervals_;
  std::int64_t timed_ = 0;  // records of a log in a row that have times
  bool at_round_ = false;   // a round number of them
  bool finished_ = false;
  bool armed_ = false;  // the last step was read while it was new
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<Stall, Params>(
      {.id = "stall",
       .version = 11,
       .scope = Scope::rank,
       .summary = "Training stands still.",
       .doc =
           "No iteration of a rank has come for five times the longest that is normal for it, "
           "and at least `least_seconds`. The longest counts checkpoints and evaluations. "
           "Writing a "
           "checkpoint file counts as progress. Closing the timeline ends the training; it does "
           "not stand still then. Of a job that only logs, no record for five times its "
           "longest interval and at least five minutes; where each step is logged with its time, "
           "200 of them are enough, if they take at least a minute.",
       .spans = {SpanKind::checkpoint, SpanKind::evaluation, SpanKind::data_init},
       .logged_steps = true,
       .incident = {.specificity = 90, .slack = std::chrono::seconds(5), .of_one_step = true}},
      {field("least_seconds", &Params::least_seconds, 1, 86400,
             "Shorter pauses are never a stall.")});
  return spec;
}

}  // namespace trainwatch::stall
