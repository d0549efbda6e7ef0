// SPDX-License-Identifier: Apache-2.0
// When each training phase ran, per rank: every step of a job with one phase, the runs of steps of
// one phase where there are several; and what lies between, before and after them.
#include <algorithm>
#include <deque>
#include <string>

#include "pipeline/analysis/per_rank.h"
#include "pipeline/analysis/table_cells.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostIntervals = 1000;   // steps, and runs, of a rank,
constexpr std::size_t kAllIntervals = 65'536;  // and of all together

struct PhaseInterval {
  Time start{};
  Time end{};
  Symbol phase = Symbol::none;
};

struct RankPhases {
  std::deque<PhaseInterval> steps;
  std::deque<PhaseInterval> runs;
  std::uint64_t step_count = 0;
  std::uint64_t run_count = 0;

  void add(const PhaseInterval& step, std::size_t most) {
    steps.push_back(step);
    ++step_count;
    if (!runs.empty() && runs.back().phase == step.phase) {
      runs.back().start = std::min(runs.back().start, step.start);
      runs.back().end = std::max(runs.back().end, step.end);
    } else {
      runs.push_back(step);
      ++run_count;
    }
    trim(most);
  }
  void trim(std::size_t most) {
    while (steps.size() > most) steps.pop_front();
    while (runs.size() > most) runs.pop_front();
  }
  bool several() const { return run_count > 1; }
  const std::deque<PhaseInterval>& intervals() const { return several() ? runs : steps; }
  // The first interval is the first of the job.
  bool whole() const { return (several() ? run_count : step_count) == intervals().size(); }

  void state(StateIo& io) {
    io(steps);
    io(runs);
    io(step_count);
    io(run_count);
    if (steps.size() > kMostIntervals || runs.size() > kMostIntervals) io.fail();
    if (steps.size() > step_count || runs.size() > run_count) io.fail();
  }
};

class TrainingPhaseIntervals final : public Analysis {
 public:
  explicit TrainingPhaseIntervals(const Interner& interner)
      : interner_(interner), ranks_(interner) {}

  void on_sample(const Sample& sample) override {
    if (first_sample_ == kNoTime) first_sample_ = sample.at;
    first_sample_ = std::min(first_sample_, sample.at);
    last_sample_ = std::max(last_sample_, sample.at);
  }

  void on_span(const Span& step) override {
    if (step.origin != Origin::timeline) return;
    const auto trim = [this](RankPhases& rank) { rank.trim(most()); };
    if (RankPhases* const rank = ranks_.of(step.subject, trim)) {
      rank->add({step.start, step.end(), step.phase}, most());
    }
  }

  void state(StateIo& io) override {
    io(first_sample_);
    io(last_sample_);
    ranks_.state(io, [&](RankPhases& rank) {
      io(rank);
      for (const auto* window : {&rank.steps, &rank.runs}) {
        for (const PhaseInterval& interval : *window) {
          if (!is_known(interner_, interval.phase)) io.fail();
        }
      }
    });
  }

  Figures figures() const override {
    Figures out;
    FigureTable& table = out.table({"start_time_us", "end_time_us", "phase", "nodeID"});
    for (const auto& [subject, rank] : ranks_.all()) {
      add_rank(table, rank, rank_name(interner_, subject));
    }
    return out;
  }

 private:
  std::size_t most() const { return ranks_.share(kMostIntervals, kAllIntervals); }

  // Empty intervals have no row.
  static void add(FigureTable& table, std::int64_t start_us, std::int64_t end_us,
                  const std::string& phase, const std::string& node) {
    if (start_us <= end_us) table.row(start_us, end_us, phase, node);
  }

  void add_rank(FigureTable& table, const RankPhases& rank, const std::string& node) const {
    const PhaseInterval* before = nullptr;
    for (const PhaseInterval& interval : rank.intervals()) {
      const std::string phase(interner_.text(interval.phase));
      const std::int64_t until = to_us(interval.start) - 1;
      if (before != nullptr) {
        add(table, to_us(before->end) + 1, until,
            between_phases(phase, interner_.text(before->phase)), node);
      } else if (first_sample_ != kNoTime && rank.whole()) {
        add(table, to_us(first_sample_), until, "Before " + phase, node);
      }
      add(table, to_us(interval.start), to_us(interval.end), phase, node);
      before = &interval;
    }
    if (before == nullptr || last_sample_ == kNoTime) return;
    const std::string last(interner_.text(before->phase));
    add(table, to_us(before->end) + 1, to_us(last_sample_), "After " + last, node);
  }

  const Interner& interner_;
  Time first_sample_ = kNoTime;
  Time last_sample_ = kNoTime;
  PerRank<RankPhases> ranks_;
};

}  // namespace

const AnalysisSpec& training_phase_intervals_analysis() {
  static const AnalysisSpec spec = make_spec<TrainingPhaseIntervals>(
      {.name = "training_phase_intervals",
       .summary = "When each training phase ran, and what lies between",
       .samples = every_resource(),
       .spans = {SpanKind::step}});
  return spec;
}

}  // namespace trainwatch
