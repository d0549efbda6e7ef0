// A rank that the others wait for; see docs/rules/straggler.md.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "rules/rank_steps.h"
#include "rules/text.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rank_times.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/late_ranks.h"

namespace trainwatch {
namespace {

struct Params {
  std::int64_t late_steps = 3;
  std::int64_t window = 20;
  std::int64_t recovery_steps = 10;
};

constexpr std::size_t kMostRanks = 4096;
// It is told again when the late steps have doubled, or are late by so many times more or less.
constexpr double kMaterial = 1.5;

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

// One rank in one step that others told, too.
struct Part {
  std::int64_t own_ns = 0;
  std::int64_t median_ns = 0;  // of all ranks
  std::uint32_t matched = 0;   // collectives
  std::uint32_t last = 0;      // of these, to which this rank came last
  std::uint32_t late = 0;      // 1: this rank was late
};

struct Record {
  std::deque<Part> parts;     // of the last steps
  std::uint64_t episode = 0;  // late steps of the open alert; 0: none is open
  double told_ns = 0;         // how late it was on average

  void state(StateIo& io) {
    io(parts);
    io(episode);
    io(told_ns);
  }
};

// What the last steps of a rank come to.
struct Sums {
  std::int64_t late = 0;
  std::int64_t since_late = 0;  // steps
  std::int64_t behind_ns = 0;   // the median, in the steps in which it was late
  std::uint64_t matched = 0;
  std::uint64_t last = 0;

  double mean_behind_ns() const {
    return static_cast<double>(behind_ns) / static_cast<double>(late);
  }

  explicit Sums(const std::deque<Part>& parts) {
    for (const Part& part : parts) {
      late += part.late;
      since_late = part.late != 0 ? 0 : since_late + 1;
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
        vocabulary_(context.vocabulary),
        steps_(context.vocabulary, RankSteps::Collectives::kept) {}

  void on(const Event& event, Verdicts& out) override {
    for (const JobStep& step : steps_.on(event)) add(step, out);
  }

  void state(StateIo& io) override {
    io(steps_);
    io(records_);
    io(judged_);
    io(too_few_);
    if (records_.size() > kMostRanks) io.fail();
    for (const auto& [rank, record] : records_) {
      if (static_cast<std::size_t>(rank) >= vocabulary_.subjects.size()) io.fail();
      if (std::cmp_greater(record.parts.size(), params_.window)) io.fail();
    }
  }

  bool warming() const override { return judged_ < fewest_late(); }
  std::vector<std::string_view> missing() const override {
    if (too_few_ && steps_.missing().empty()) return {"the same steps of three ranks"};
    return steps_.missing();
  }

 private:
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
      if (std::cmp_equal(record.parts.size(), params_.window)) record.parts.pop_front();
      record.parts.push_back({times.own_ns[i], found.median_ns, times.matched, times.last[i],
                              found.late[i] ? 1U : 0U});
      judge(step[i], record, step.size(), out);
    }
  }

  void judge(const RankStep& rank, Record& record, std::size_t ranks, Verdicts& out) const {
    const Sums sums(record.parts);
    const bool late_now = record.parts.back().late != 0;
    if (late_now && (record.episode > 0 || sums.late >= fewest_late())) {
      const double mean_ns = sums.mean_behind_ns();
      const bool more = std::has_single_bit(++record.episode);
      const bool moved =
          mean_ns > kMaterial * record.told_ns || record.told_ns > kMaterial * mean_ns;
      if (!more && !moved) return;
      record.told_ns = mean_ns;
      out.push_back(firing(rank, record, sums, ranks));
    } else if (record.episode > 0 && sums.since_late >= recovery()) {
      record.episode = 0;
      Verdict& over = out.emplace_back();
      over.state = Verdict::State::ok;
      over.at = time_from_ns(rank.step.end_ns());
      over.key = key_of(rank.rank);
    }
  }

  // No more than are remembered.
  std::int64_t fewest_late() const { return std::min(params_.late_steps, params_.window); }
  std::int64_t recovery() const { return std::min(params_.recovery_steps, params_.window); }

  std::string name_of(SubjectId rank) const {
    const Subject& who = vocabulary_.subjects[rank];
    return who.rank == kNoRank ? who.node : "rank " + std::to_string(who.rank);
  }
  std::string key_of(SubjectId rank) const {
    return name_of(rank) + "/" + vocabulary_.subjects[rank].node;
  }

  Verdict firing(const RankStep& rank, const Record& record, const Sums& sums,
                 std::size_t ranks) const {
    const Part& now = record.parts.back();
    Verdict verdict;
    verdict.at = time_from_ns(rank.step.end_ns());
    verdict.key = key_of(rank.rank);
    verdict.subject = rank.rank;
    verdict.step = rank.step.number;
    verdict.value = seconds(now.own_ns);
    verdict.threshold = LateRanks::kShare * seconds(now.median_ns);
    verdict.baseline = seconds(now.median_ns);
    verdict.unit = "seconds";
    verdict.summary = "The others wait for " + name_of(rank.rank) + ": it was late in " +
                      std::to_string(sums.late) + " of the last " +
                      std::to_string(record.parts.size()) + " steps, by " +
                      text::seconds(sums.mean_behind_ns() / 1e9) + " on average.";
    verdict.cause = {CauseName::straggler,
                     1,
                     "In step " + std::to_string(rank.step.number) + " it took " +
                         text::seconds(verdict.value) + " for itself, the median of " +
                         std::to_string(ranks) + " ranks is " + text::seconds(verdict.baseline) +
                         ".",
                     {}};
    verdict.evidence = evidence(rank, record, sums, ranks);
    verdict.next =
        "Look at that rank's GPU (clocks, temperature, other processes), its host and its share of "
        "the data; if it is the hardware, replace the node.";
    return verdict;
  }

  static std::string evidence(const RankStep& rank, const Record& record, const Sums& sums,
                              std::size_t ranks) {
    return JsonWriter{}
        .begin_object()
        .field("ranks", ranks)
        .field("steps", record.parts.size())
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
  const Vocabulary& vocabulary_;
  RankSteps steps_;
  std::map<SubjectId, Record> records_;
  std::int64_t judged_ = 0;  // steps, up to how many make an alert
  bool too_few_ = false;     // ranks told the latest step
};

}  // namespace

const RuleSpec& straggler_rule() {
  static const RuleSpec spec = make_spec<Straggler, Params>(
      {.id = "straggler",
       .scope = Scope::job,
       .summary = "One rank is slower than the others, which wait for it.",
       .doc =
           "Of at least three ranks in the same step of a profiler: what a rank takes for itself, "
           "without waiting in collectives, is a tenth above the median of the ranks and has a "
           "modified z-score above 3.5; several times within the last `window` steps. Only "
           "durations are compared, never clocks.",
       .interest = {.ticks = true, .cycles = true}},
      {field("late_steps", &Params::late_steps, 1, 1000,
             "Late steps within the window that make an alert."),
       field("window", &Params::window, 3, 1000, "Steps that are looked at."),
       field("recovery_steps", &Params::recovery_steps, 1, 1000,
             "Steps in a row without being late that end the alert.")});
  return spec;
}

}  // namespace trainwatch
