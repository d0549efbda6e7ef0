// A rank that the others wait for; see docs/rules/straggler.md.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "rules/format.h"
#include "rules/step_aligner.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rank_times.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/late_ranks.h"

namespace trainwatch::straggler {
namespace {

struct Params {
  std::int64_t late_steps = 3;
  std::int64_t window = 20;
  std::int64_t recovery_steps = 10;
};

constexpr std::size_t kMostRanks = 4096;
constexpr double kMinChange = 1.5;  // times the delay

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

// One rank in one step that other ranks have, too.
struct Part {
  std::int64_t own_ns = 0;
  std::int64_t median_ns = 0;  // of all ranks
  std::uint32_t matched = 0;   // collectives
  std::uint32_t last = 0;      // of these, to which this rank came last
  std::uint32_t late = 0;      // 1: this rank was late
};

using Record = std::deque<Part>;  // of a rank, the last steps

// Totals over the last steps of a rank.
struct Sums {
  std::int64_t late = 0;
  std::int64_t behind_ns = 0;  // the median, in the steps in which it was late
  std::uint64_t matched = 0;
  std::uint64_t last = 0;

  double mean_behind_ns() const {
    return static_cast<double>(behind_ns) / static_cast<double>(late);
  }

  explicit Sums(const Record& record) {
    for (const Part& part : record) {
      late += part.late;
      if (part.late != 0) behind_ns += part.own_ns - part.median_ns;
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
  void on_tick(Tick tick, Verdicts& out) override { add(steps_.tick(tick.now), out); }
  void on_end(Time, Verdicts& out) override { add(steps_.end(), out); }

  void state(StateIo& io) override {
    io(steps_);
    io(records_);
    io(judged_);
    io(too_few_);
    if (records_.size() > kMostRanks) io.fail();
    for (const auto& [rank, record] : records_) {
      if (static_cast<std::size_t>(rank) >= interner_.subjects.size()) io.fail();
      if (std::cmp_greater(record.size(), params_.window)) io.fail();
    }
  }

  // Late steps that have doubled are worth an update, too: the aspect is the bit width of their
  // number.
  Lifecycle lifecycle() const override {
    return {.recover_after = std::min(params_.recovery_steps, params_.window),
            .change = Lifecycle::Change::factor,
            .min_change = kMinChange};
  }
  bool warming() const override { return judged_ < fewest_late(); }
  std::vector<std::string_view> missing() const override {
    if (too_few_ && steps_.missing().empty()) return {"the same steps of three ranks"};
    return steps_.missing();
  }

 private:
  void add(const std::vector<JobStep>& steps, Verdicts& out) {
    for (const JobStep& step : steps) add(step, out);
  }

  void add(const JobStep& step, Verdicts& out) {
    too_few_ = step.size() < kFewestRanks;
    if (too_few_) return;
    judged_ = std::min(judged_ + 1, fewest_late());
    std::vector<RankPart> parts;
    for (const RankStep& rank : step) parts.emplace_back(rank.step);
    const RankTimes times = own_times(parts);
    const LateRanks found = late_ranks(times.own_ns);
    for (std::size_t i = 0; i < step.size(); ++i) {
      if (records_.size() == kMostRanks && !records_.contains(step[i].rank)) continue;
      Record& record = records_[step[i].rank];
      if (std::cmp_equal(record.size(), params_.window)) record.pop_front();
      record.push_back({times.own_ns[i], found.median_ns, times.matched, times.last[i],
                        found.late[i] ? 1U : 0U});
      judge(step[i], record, step.size(), out);
    }
  }

  void judge(const RankStep& rank, const Record& record, std::size_t ranks, Verdicts& out) const {
    const std::string key = key_of(rank.rank);
    const Time at = time_from_ns(rank.step.end_ns());
    if (record.back().late == 0) return out.clear(key, at);
    const Sums sums(record);
    out.fires({.key = key,
               .at = at,
               .aspect = static_cast<std::uint64_t>(std::bit_width(out.firings(key) + 1)),
               .figure = sums.mean_behind_ns(),
               .opens = sums.late >= fewest_late()},
              [&] { return describe(rank, record, sums, ranks); });
  }

  // Not more than are remembered.
  std::int64_t fewest_late() const { return std::min(params_.late_steps, params_.window); }

  std::string name_of(SubjectId rank) const {
    const Subject& who = interner_.subjects[rank];
    return who.rank == kNoRank ? who.node : "rank " + std::to_string(who.rank);
  }
  std::string key_of(SubjectId rank) const {
    return name_of(rank) + "/" + interner_.subjects[rank].node;
  }

  Verdict describe(const RankStep& rank, const Record& record, const Sums& sums,
                   std::size_t ranks) const {
    const Part& now = record.back();
    Verdict verdict;
    verdict.subject = rank.rank;
    verdict.step = rank.step.number;
    verdict.value = seconds(now.own_ns);
    verdict.threshold = LateRanks::kShare * seconds(now.median_ns);
    verdict.baseline = seconds(now.median_ns);
    verdict.unit = "seconds";
    verdict.summary = "The others wait for " + name_of(rank.rank) + ": it was late in " +
                      std::to_string(sums.late) + " of the last " + std::to_string(record.size()) +
                      " steps, by " + format::seconds(sums.mean_behind_ns() / 1e9) + " on average.";
    verdict.cause = {CauseName::straggler,
                     1,
                     "In step " + std::to_string(rank.step.number) + " its own time was " +
                         format::seconds(verdict.value) + "; the median of " +
                         std::to_string(ranks) + " ranks was " + format::seconds(verdict.baseline) +
                         ".",
                     {}};
    verdict.evidence = evidence(rank, record, sums, ranks);
    verdict.next =
        "Look at that rank's GPU (clocks, temperature, other processes), its host and its share of "
        "the data; if the hardware is at fault, replace the node.";
    return verdict;
  }

  static std::string evidence(const RankStep& rank, const Record& record, const Sums& sums,
                              std::size_t ranks) {
    return JsonWriter{}
        .begin_object()
        .field("ranks", ranks)
        .field("steps", record.size())
        .field("late_steps", sums.late)
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
  std::int64_t judged_ = 0;  // steps, up to how many make an alert
  bool too_few_ = false;     // ranks have the latest step
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<Straggler, Params>(
      {.id = "straggler",
       .scope = Scope::job,
       .summary = "One rank is slower than the others, which wait for it.",
       .doc =
           "Of at least three ranks in the same profiled step, one whose own time, without waiting "
           "in collectives, is a tenth above the median of the ranks and has a modified z-score "
           "above 3.5; several times within the last `window` steps. Only durations are "
           "compared, never clocks."},
      {field("late_steps", &Params::late_steps, 1, 1000,
             "Late steps within the window that open an alert."),
       field("window", &Params::window, 3, 1000, "Steps in the window."),
       field("recovery_steps", &Params::recovery_steps, 1, 1000,
             "Consecutive steps on time that end the alert.")});
  return spec;
}

}  // namespace trainwatch::straggler
