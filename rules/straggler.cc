// SPDX-License-Identifier: Apache-2.0
// A rank that the others wait for; see docs/rules/straggler.md.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rules/cycle_cost.h"
#include "rules/cycle_evidence.h"
#include "rules/format.h"
#include "rules/late_rank.h"
#include "rules/step_aligner.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rank_times.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/binomial.h"
#include "trainwatch/stats/late_ranks.h"

namespace trainwatch::straggler {
namespace {

struct Params {
  double error_rate = 0.002;
  std::int64_t window = 20;
  std::int64_t recovery_steps = 10;
};

constexpr std::string_view kNext =
    "Look at that rank's GPU (clocks, temperature, other processes), its host and its share of the "
    "data; if the hardware is at fault, replace the node.";
constexpr std::size_t kMostRanks = 16384;
constexpr double kMinChange = 1.5;   // times the delay
constexpr double kLostShare = 0.05;  // of the late steps, for a warning
constexpr double kHint = 0.05;       // a chance at which a rank that is far behind is worth knowing
constexpr double kStays = 0.7;       // of that, while an alert is open
constexpr double kLeastLost = 1.5;   // seconds
constexpr std::int64_t kFewestSteps = 3;
constexpr std::int64_t kMostJudged = std::int64_t{1} << 40U;

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

// One rank in one step that other ranks have, too.
struct Part {
  std::int64_t own_ns = 0;
  std::int64_t usual_ns = 0;  // the median of all ranks; of two the shorter time
  std::int64_t step_ns = 0;
  std::uint32_t matched = 0;  // collectives
  std::uint32_t last = 0;     // of these, to which this rank came last
  std::uint32_t late = 0;     // 1: this rank was late
  std::uint32_t far = 0;      // 1: by far
  std::uint32_t late_ranks = 0;
};

struct Record {
  std::deque<Part> parts;  // the last steps of a rank
  bool proven = false;     // chance was excluded, and the rank has not been on time since
  CycleCost cost;          // since it was late first
};

// Totals over the last steps of a rank.
struct Sums {
  std::int64_t late = 0;
  std::int64_t far = 0;
  std::int64_t behind_ns = 0;  // what is usual, in the steps in which it was late
  std::int64_t late_ns = 0;    // these steps
  std::int64_t some_late = 0;  // steps in which any rank was late
  std::int64_t late_ranks = 0;
  std::uint64_t matched = 0;
  std::uint64_t last = 0;

  double mean_behind_ns() const {
    return static_cast<double>(behind_ns) / static_cast<double>(late);
  }
  // How likely one of these ranks is late so often by chance: if in the steps in which any was late
  // it might as well have been another.
  double chance(std::size_t ranks) const {
    const auto number = static_cast<double>(ranks);
    const double each = static_cast<double>(late_ranks) / (number * static_cast<double>(some_late));
    return std::min(1.0, number * binomial_tail(late, some_late, each));
  }

  explicit Sums(const Record& record) {
    for (const Part& part : record.parts) {
      late += part.late;
      far += part.far;
      if (part.late != 0) behind_ns += part.own_ns - part.usual_ns;
      if (part.late != 0) late_ns += part.step_ns;
      if (part.late_ranks != 0) ++some_late;
      late_ranks += part.late_ranks;
      matched += part.matched;
      last += part.last;
    }
  }
};

class Straggler final : public Rule {
 public:
  Straggler(const Params& params, const RuleContext& context)
      : params_(params),
        interner_(context.interner),
        steps_(context.interner, StepAligner::Collectives::kept) {}

  void on_cycle(const CycleSummary& cycle, Verdicts& out) override { add(steps_.add(cycle), out); }
  TickResult on_tick(Tick tick, Verdicts& out) override {
    add(steps_.tick(tick.now), out);
    return {.changed = true};
  }
  void on_end(Time, Verdicts& out) override { add(steps_.end(), out); }

  // Of jobs with timelines; profiler cycles say more.
  void on_booked(const BookedIteration& iteration, Verdicts& out) override {
    if (judged_ > 0) return;
    late_.add(iteration);
    const LateRank::Late* const worst = late_.worst();
    const std::string key = worst == nullptr ? std::string{} : key_of(worst->rank) + "/timeline";
    if (key != late_key_ && !late_key_.empty()) {
      out.clear(late_key_, iteration.to);
      late_key_.clear();
    }
    if (worst == nullptr) return;
    const bool open = key == late_key_;
    const double share = late_.share(*worst);
    if (!late_.is_always(*worst) || share < (open ? kStays : 1) * kLostShare) {
      if (open) out.clear(key, iteration.to);
      if (open && out.firings(key) == 0) late_key_.clear();
      return;
    }
    if (!open && worst->lost < kLeastLost) return;
    late_key_ = key;
    out.fires({.key = key,
               .at = iteration.to,
               .amount = static_cast<std::uint64_t>(worst->lost),
               .figure = share},
              [&] { return describe(iteration, *worst, share); });
  }

  void state(StateIo& io) override {
    io(steps_);
    io(records_);
    io(evidence_);
    io(judged_);
    io(too_few_);
    io(late_);
    io(late_key_);
    if (judged_ < 0 || judged_ > kMostJudged) io.fail();
    if (records_.size() > kMostRanks) io.fail();
    for (const auto& [rank, record] : records_) {
      if (static_cast<std::size_t>(rank) >= interner_.subjects.size()) io.fail();
      if (std::cmp_greater(record.parts.size(), params_.window)) io.fail();
      if (io.is_loading() && record.parts.empty()) io.fail();
    }
  }

  // Late steps that have doubled are worth an update, too: the aspect is the bit width of their
  // number.
  Lifecycle lifecycle() const override {
    return {.recover_after = std::min(params_.recovery_steps, params_.window),
            .change = Lifecycle::Change::factor,
            .min_change = kMinChange};
  }
  bool warming() const override { return judged_ < std::min(kFewestSteps, params_.window); }
  std::vector<std::string_view> missing() const override {
    if (too_few_ && steps_.missing().empty()) return {"the same steps of two ranks"};
    return steps_.missing();
  }

 private:
  void add(const std::vector<JobStep>& steps, Verdicts& out) {
    for (const JobStep& step : steps) add(step, out);
  }

  // Nothing is known of this attempt, and what was open belongs to the one before.
  void restart(Time at, Verdicts& out) {
    out.restarted(at);
    records_.clear();
    evidence_ = {};
    judged_ = 0;
    late_ = {};
    late_key_.clear();
  }

  void add(const JobStep& step, Verdicts& out) {
    if (step.restarts) restart(step.begin(), out);
    too_few_ = step.ranks.size() < kFewestRanks;
    if (too_few_) return;
    judged_ = std::min(judged_ + 1, kMostJudged);
    evidence_.add(1, step.ranks.front().step.duration_ns);
    std::vector<RankPart> parts;
    for (const RankStep& rank : step.ranks) parts.emplace_back(rank.step);
    const RankTimes times = own_times(parts);
    const LateRanks found = late_ranks(times.own_ns);
    const auto late = static_cast<std::uint32_t>(std::ranges::count(found.late, true));
    for (std::size_t i = 0; i < step.ranks.size(); ++i) {
      const RankStep& rank = step.ranks[i];
      if (records_.size() == kMostRanks && !records_.contains(rank.rank)) continue;
      Record& record = records_[rank.rank];
      if (std::cmp_equal(record.parts.size(), params_.window)) record.parts.pop_front();
      record.parts.push_back({times.own_ns[i], found.usual_ns, rank.step.duration_ns, times.matched,
                              times.last[i], found.late[i] ? 1U : 0U, found.far[i] ? 1U : 0U,
                              late});
      judge(rank, record, step.ranks.size(), out);
    }
  }

  void judge(const RankStep& rank, Record& record, std::size_t ranks, Verdicts& out) const {
    const std::string key = key_of(rank.rank);
    const Time at = time_from_ns(rank.step.end_ns());
    const Sums sums(record);
    const Part& now = record.parts.back();
    if (sums.late == 0) {
      record.proven = false;
      record.cost = {};
    } else {
      const std::int64_t behind = now.late == 0 ? 0 : now.own_ns - now.usual_ns;
      record.cost.add(rank.step, seconds(behind), seconds(now.step_ns));
    }
    if (now.late == 0) return out.clear(key, at);
    const double chance = sums.chance(ranks);
    record.proven = record.proven || chance <= tolerated();
    const bool hint = sums.far == sums.late && chance <= kHint;
    out.fires({.key = key,
               .at = at,
               .severity = record.proven ? severity_of(sums) : Severity::info,
               .aspect = static_cast<std::uint64_t>(std::bit_width(out.firings(key) + 1)),
               .figure = sums.mean_behind_ns(),
               .opens = record.proven || hint},
              [&] { return describe(rank, record, sums, ranks); });
  }

  // The error rate is that of a whole job: each further window is another chance to err.
  double tolerated() const {
    const std::int64_t windows = (judged_ - 1) / params_.window + 1;
    return params_.error_rate / static_cast<double>(windows);
  }
  Severity severity_of(const Sums& sums) const {
    const auto lost = static_cast<double>(sums.behind_ns);
    const bool much = lost >= kLostShare * static_cast<double>(sums.late_ns);
    return evidence_.at_most(much ? Severity::warning : Severity::info);
  }

  std::string name_of(SubjectId rank) const {
    const Subject& who = interner_.subjects[rank];
    if (who.rank != kNoRank) return "rank " + std::to_string(who.rank);
    return who.process == kNoProcess ? who.node : "process " + std::to_string(who.process);
  }
  std::string key_of(SubjectId rank) const {
    return name_of(rank) + "/" + interner_.subjects[rank].node;
  }

  Verdict describe(const RankStep& rank, const Record& record, const Sums& sums,
                   std::size_t ranks) const {
    const Part& now = record.parts.back();
    Verdict verdict;
    verdict.subject = rank.rank;
    verdict.step = rank.step.number;
    verdict.value = seconds(now.own_ns);
    verdict.threshold = LateRanks::kShare * seconds(now.usual_ns);
    verdict.baseline = seconds(now.usual_ns);
    verdict.unit = "seconds";
    verdict.summary = "The others wait for " + name_of(rank.rank) + ", late in " +
                      std::to_string(sums.late) + " of the last " +
                      std::to_string(record.parts.size()) + " steps by " +
                      format::seconds(sums.mean_behind_ns() / 1e9) + " on average,";
    record.cost.describe(verdict);
    verdict.cause = {CauseName::straggler,
                     1,
                     "In step " + std::to_string(rank.step.number) + " its own time was " +
                         format::seconds(verdict.value) + "; " +
                         (ranks == 2 ? "that of the other rank"
                                     : "the median of " + std::to_string(ranks) + " ranks") +
                         " was " + format::seconds(verdict.baseline) + ".",
                     {}};
    verdict.evidence = evidence(rank, record, sums, ranks);
    verdict.next = kNext;
    return verdict;
  }

  Verdict describe(const BookedIteration& iteration, const LateRank::Late& late,
                   double share) const {
    Verdict verdict;
    verdict.subject = late.rank;
    verdict.step = iteration.last_step;
    verdict.since = late.since;
    verdict.window_start = late.since;
    verdict.window_end = iteration.to;
    verdict.lost_seconds = verdict.window_lost_seconds = std::min(late.lost, late_.elapsed(late));
    verdict.value = 100 * share;
    verdict.threshold = 100 * kLostShare;
    verdict.unit = "percent";
    verdict.summary = "The others wait for " + name_of(late.rank) + " in " +
                      format::percent(100 * share) + " of the time; lost since step " +
                      std::to_string(late.since_step) + ": " + format::seconds(late.lost) + " of " +
                      format::seconds(late_.elapsed(late)) + format::saving(share) + ".";
    verdict.cause = {CauseName::straggler,
                     1,
                     "Its own work, without its waits for others, takes longer than that of the "
                     "other ranks.",
                     {}};
    verdict.evidence = JsonWriter{}
                           .begin_object()
                           .field("since", to_rfc3339(late.since))
                           .field("since_step", late.since_step)
                           .field("late_seconds", late.lost)
                           .field("late_percent", 100 * share)
                           .field("waiting_measured_by", "timelines")
                           .end_object()
                           .take();
    verdict.next = kNext;
    return verdict;
  }

  static std::string evidence(const RankStep& rank, const Record& record, const Sums& sums,
                              std::size_t ranks) {
    return JsonWriter{}
        .begin_object()
        .field("ranks", ranks)
        .field("steps", record.parts.size())
        .field("late_steps", sums.late)
        .field("steps_with_a_late_rank", sums.some_late)
        .field("chance", sums.chance(ranks))
        .field("late_seconds", seconds(sums.behind_ns))
        .field("waiting_measured_by", sums.matched > 0 ? "process group and Seq" : "communication")
        .field("collectives", sums.matched)
        .field("collectives_last_to", sums.last)
        .field("communication_seconds", seconds(rank.step.communication_ns))
        .field("step_seconds", seconds(rank.step.duration_ns))
        .end_object()
        .take();
  }

  Params params_;
  const Interner& interner_;
  StepAligner steps_;
  std::map<SubjectId, Record> records_;
  CycleEvidence evidence_;
  std::int64_t judged_ = 0;  // steps
  bool too_few_ = false;     // ranks have the latest step
  LateRank late_;
  std::string late_key_;  // of the open alert about timelines
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<Straggler, Params>(
      {.id = "straggler",
       .version = 5,
       .scope = Scope::job,
       .summary = "One rank is slower than the others, which wait for it.",
       .doc =
           "A rank whose own time in a profiled step, without exposed waiting in collectives, is "
           "6 % above the median of the ranks and the longest, more often within the last "
           "`window` steps than chance explains: a binomial test over the steps in which any rank "
           "was late. Of timelines, a rank whose own work makes the others wait for 5 % of the "
           "time, and that comes last nearly always. Only durations are compared, never clocks.",
       .incident = {.specificity = 75}},
      {field("error_rate", &Params::error_rate, 0, 1,
             "Probability of an alert in a job whose ranks take turns at being late."),
       field("window", &Params::window, 3, 1000, "Steps in the window."),
       field("recovery_steps", &Params::recovery_steps, 1, 1000,
             "Consecutive steps on time that end the alert.")});
  return spec;
}

}  // namespace trainwatch::straggler
