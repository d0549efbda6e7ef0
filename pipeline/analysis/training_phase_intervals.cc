// When each training phase ran, per rank: every step of a job with one phase, the runs of steps of
// one phase where there are several; and what lies between, before and after them.
#include <algorithm>
#include <deque>
#include <string>

#include "pipeline/analysis/json_table.h"
#include "pipeline/analysis/micros.h"
#include "pipeline/analysis/names.h"
#include "pipeline/analysis/per_rank.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

constexpr std::size_t kWindow = 1000;  // steps, and runs, of a rank

struct Interval {
  Time start{};
  Time end{};
  Symbol phase = Symbol::none;
  std::uint32_t reserved = 0;  // no unset bytes in the state
};

struct RankPhases {
  std::deque<Interval> steps;
  std::deque<Interval> runs;
  std::uint64_t step_count = 0;
  std::uint64_t run_count = 0;

  void add(const Interval& step) {
    push(steps, step);
    ++step_count;
    if (!runs.empty() && runs.back().phase == step.phase) {
      runs.back().start = std::min(runs.back().start, step.start);
      runs.back().end = std::max(runs.back().end, step.end);
    } else {
      push(runs, step);
      ++run_count;
    }
  }
  bool several() const { return run_count > 1; }
  const std::deque<Interval>& intervals() const { return several() ? runs : steps; }
  // The first interval is the first of the job.
  bool whole() const { return (several() ? run_count : step_count) == intervals().size(); }

  void state(StateIo& io) {
    io(steps);
    io(runs);
    io(step_count);
    io(run_count);
    if (steps.size() > kWindow || runs.size() > kWindow) io.fail();
    if (steps.size() > step_count || runs.size() > run_count) io.fail();
  }

 private:
  static void push(std::deque<Interval>& window, const Interval& interval) {
    if (window.size() == kWindow) window.pop_front();
    window.push_back(interval);
  }
};

class TrainingPhaseIntervals final : public Analysis {
 public:
  explicit TrainingPhaseIntervals(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), ranks_(vocabulary) {}

  void on(const Event& event) override {
    if (const auto* sample = std::get_if<Sample>(&event)) {
      if (first_sample_ == kNoTime) first_sample_ = sample->at;
      first_sample_ = std::min(first_sample_, sample->at);
      last_sample_ = std::max(last_sample_, sample->at);
    } else if (const auto* span = std::get_if<Span>(&event)) {
      if (span->origin != Origin::timeline) return;
      if (RankPhases* const rank = ranks_.of(span->subject)) {
        rank->add({span->start, span->end(), span->phase});
      }
    }
  }

  void state(StateIo& io) override {
    io(first_sample_);
    io(last_sample_);
    ranks_.state(io, [&](RankPhases& rank) {
      io(rank);
      for (const auto* window : {&rank.steps, &rank.runs}) {
        for (const Interval& interval : *window) {
          if (!is_known(vocabulary_, interval.phase)) io.fail();
        }
      }
    });
  }

  void write(JsonWriter& json) const override {
    JsonTable table(json, {"start_time_us", "end_time_us", "phase", "nodeID"});
    for (const auto& [subject, rank] : ranks_.all()) {
      write(table, rank, rank_name(vocabulary_, subject));
    }
    table.end();
  }

 private:
  // An interval without length is no row.
  static void add(JsonTable& table, std::int64_t start_us, std::int64_t end_us,
                  const std::string& phase, const std::string& node) {
    if (start_us <= end_us) table.row(start_us, end_us, phase, node);
  }

  void write(JsonTable& table, const RankPhases& rank, const std::string& node) const {
    const Interval* before = nullptr;
    for (const Interval& interval : rank.intervals()) {
      const std::string phase(vocabulary_.text(interval.phase));
      const std::int64_t until = to_us(interval.start) - 1;
      if (before != nullptr) {
        add(table, to_us(before->end) + 1, until,
            between_phases(phase, vocabulary_.text(before->phase)), node);
      } else if (first_sample_ != kNoTime && rank.whole()) {
        add(table, to_us(first_sample_), until, "Before " + phase, node);
      }
      add(table, to_us(interval.start), to_us(interval.end), phase, node);
      before = &interval;
    }
    if (before == nullptr || last_sample_ == kNoTime) return;
    const std::string last(vocabulary_.text(before->phase));
    add(table, to_us(before->end) + 1, to_us(last_sample_), "After " + last, node);
  }

  const Vocabulary& vocabulary_;
  Time first_sample_ = kNoTime;
  Time last_sample_ = kNoTime;
  PerRank<RankPhases> ranks_;
};

}  // namespace

extern const AnalysisSpec training_phase_intervals_spec = {
    "training_phase_intervals",
    "When each training phase ran, and what lies between",
    true,
    {SpanKind::step},
    make_analysis<TrainingPhaseIntervals>};

}  // namespace trainwatch
