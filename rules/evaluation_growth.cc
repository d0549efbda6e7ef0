// SPDX-License-Identifier: Apache-2.0
// Evaluations take longer and longer; see docs/rules/evaluation_growth.md.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rules/format.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/ring_queue.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/median.h"

namespace trainwatch::evaluation_growth {
namespace {

struct Params {
  double factor = 2;
  double warning_percent = 8;
};

constexpr std::size_t kFirst = 3;    // evaluations that show how long they take
constexpr std::size_t kRecent = 3;   // that must all be longer
constexpr double kHysteresis = 0.7;  // the alert ends at this share of where it began
constexpr double kChange = 1.5;      // factor of the share that is worth an update

// All evaluations between two training steps.
struct Evaluation {
  Time end{};
  double seconds = 0;

  void state(StateIo& io) {
    io(end);
    io(seconds);
    if (!is_possible(end) || !(seconds >= 0)) io.fail();
  }
};

class EvaluationGrowth final : public Rule {
 public:
  EvaluationGrowth(const Params& params, const RuleContext&) : params_(params) {}

  void on_step(const Step& step, Verdicts& out) override {
    if (step.origin == Origin::profiler) return;
    if (!step.is_training()) return evaluated(trained_to_, step.end());
    if (step.opens_attempt) {
      first_.clear();
      recent_ = {};
      now_ = {};
      out.clear_all(step.end());
    }
    if (now_.seconds > 0) add(out);
    trained_to_ = std::max(trained_to_, step.end());
    last_step_ = step.number;
  }

  // A log shows only when an evaluation ended.
  void on_span(const Span& span, Verdicts&) override {
    if (span.origin == Origin::profiler) return;
    evaluated(span.duration > Nanos{} ? span.start : trained_to_, span.end());
  }

  void state(StateIo& io) override {
    io(first_);
    io(recent_);
    io(now_);
    io(trained_to_);
    io(last_step_);
    io(since_);
    io(lost_);
    if (first_.size() > kFirst || recent_.size() > kRecent + 1 || !is_possible(trained_to_) ||
        !is_possible(since_) || !(lost_ >= 0)) {
      io.fail();
    }
  }

  Lifecycle lifecycle() const override {
    return {.change = Lifecycle::Change::factor, .min_change = kChange};
  }
  bool warming() const override { return first_.size() < kFirst || recent_.size() <= kRecent; }

 private:
  void evaluated(Time from, Time to) {
    if (trained_to_ == kNoTime) return;
    from = std::max({from, now_.end, trained_to_});
    if (to <= from) return;
    now_.seconds += to_seconds(to - from);
    now_.end = to;
  }

  void add(Verdicts& out) {
    const Evaluation evaluation = std::exchange(now_, {});
    if (first_.size() < kFirst) first_.push_back(evaluation.seconds);
    if (recent_.size() > kRecent) recent_.pop_front();
    recent_.push_back(evaluation, kRecent + 1);
    if (!warming()) judge(out);
  }

  void judge(Verdicts& out) {
    const double usual = median_of(first_);
    double shortest = recent_[1].seconds;
    double seconds = 0;
    for (std::size_t i = 1; i <= kRecent; ++i) {
      shortest = std::min(shortest, recent_[i].seconds);
      seconds += recent_[i].seconds;
    }
    const double share = seconds / to_seconds(recent_.back().end - recent_.front().end);
    const bool open = out.firings("") > 0;
    if (shortest < params_.factor * usual) return close(out);
    for (std::size_t i = since_ == kNoTime ? 1 : kRecent; i <= kRecent; ++i) {
      lost_ += recent_[i].seconds - usual;
    }
    if (since_ == kNoTime) since_ = recent_[1].end;
    if (100 * share < params_.warning_percent * (open ? kHysteresis : 1)) {
      return out.clear_all(recent_.back().end);
    }
    out.fires({.at = recent_.back().end, .figure = share},
              [&] { return describe(seconds / kRecent, usual, share); });
  }
  void close(Verdicts& out) {
    since_ = kNoTime;
    lost_ = 0;
    out.clear_all(recent_.back().end);
  }

  Verdict describe(double seconds, double usual, double share) const {
    Verdict verdict;
    verdict.window_start = since_;
    verdict.since = since_;
    verdict.window_end = recent_.back().end;
    verdict.window_lost_seconds = lost_;
    verdict.lost_seconds = lost_;
    verdict.step = last_step_;
    verdict.value = seconds;
    verdict.threshold = params_.factor * usual;
    verdict.baseline = usual;
    verdict.unit = "seconds";
    verdict.summary = "An evaluation takes " + format::seconds(seconds) + " instead of " +
                      format::seconds(usual) + " in the beginning; evaluations cost " +
                      format::percent(100 * share) + " of the time.";
    verdict.cause = {CauseName::evaluation, 1, "Training waits while the job evaluates.", {}};
    JsonWriter json;
    verdict.evidence = json.begin_object()
                           .field("since", to_rfc3339(since_))
                           .field("seconds", seconds)
                           .field("usual_seconds", usual)
                           .field("percent", 100 * share)
                           .end_object()
                           .take();
    verdict.next =
        "Look for a list of results, losses or figures that is kept from one evaluation to the "
        "next, and for an evaluation set that grows.";
    return verdict;
  }

  Params params_;
  std::vector<double> first_;     // seconds
  RingQueue<Evaluation> recent_;  // the oldest first, and the one before them
  Evaluation now_;                // since the last training step
  Time trained_to_ = kNoTime;
  std::int64_t last_step_ = kNoStep;
  Time since_ = kNoTime;  // all were longer
  double lost_ = 0;       // since then
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<EvaluationGrowth, Params>(
      {.id = "evaluation_growth",
       .scope = Scope::rank,
       .summary = "Evaluations take far longer than in the beginning.",
       .doc = "The last three evaluations each took `factor` times the median of the first three, "
              "and cost `warning_percent` of the time. An evaluation is all that is marked as one "
              "between two training steps, and all steps of an evaluation there.",
       .spans = {SpanKind::evaluation},
       .logged_steps = true,
       .incident = {.specificity = 60, .slack = std::chrono::seconds(60), .of_one_cause = true}},
      {field("factor", &Params::factor, 1.1, 100,
             "An evaluation takes at least this many times as long as the first ones ..."),
       field("warning_percent", &Params::warning_percent, 0.1, 100,
             "... and evaluations cost at least this percentage of the time.")});
  return spec;
}

}  // namespace trainwatch::evaluation_growth
