// SPDX-License-Identifier: Apache-2.0
// The last steps of each rank: when they began and how long they took.
#include <algorithm>
#include <deque>
#include <tuple>
#include <vector>

#include "pipeline/analysis/per_rank.h"
#include "pipeline/analysis/table_cells.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

constexpr std::size_t kTimelineSteps = 1000;  // of a rank,
constexpr std::size_t kAllSteps = 65'536;     // and of all together

struct TimelineStep {
  Time start{};
  Nanos duration{};
  std::int64_t number = kNoStep;
  Symbol phase = Symbol::none;
};

class StepTimeline final : public Analysis {
 public:
  explicit StepTimeline(const Interner& interner) : interner_(interner), ranks_(interner) {}

  void on_span(const Span& step) override {
    if (step.origin != Origin::timeline) return;
    const auto trim = [this](Steps& steps) {
      while (steps.size() > most()) steps.pop_front();
    };
    Steps* const steps = ranks_.of(step.subject, trim);
    if (steps == nullptr) return;
    steps->push_back({step.start, step.duration, step.step, step.phase});
    trim(*steps);
  }

  void state(StateIo& io) override {
    ranks_.state(io, [&](Steps& steps) {
      io(steps);
      if (steps.size() > kTimelineSteps) io.fail();
      for (const TimelineStep& step : steps) {
        if (!is_known(interner_, step.phase)) io.fail();
      }
    });
  }

  Figures figures() const override {
    Figures out;
    std::vector<std::pair<SubjectId, TimelineStep>> all;
    for (const auto& [subject, steps] : ranks_.all()) {
      for (const TimelineStep& step : steps) all.emplace_back(subject, step);
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.second.start, a.first) < std::tuple(b.second.start, b.first);
    });
    FigureTable& table = out.table({"start_time_us", "duration_us", "step", "phase", "nodeID"});
    for (const auto& [subject, step] : all) {
      table.row(to_us(step.start), to_us(step.duration), step.number, interner_.text(step.phase),
                rank_name(interner_, subject));
    }
    return out;
  }

 private:
  using Steps = std::deque<TimelineStep>;

  std::size_t most() const { return ranks_.share(kTimelineSteps, kAllSteps); }

  const Interner& interner_;
  PerRank<Steps> ranks_;
};

}  // namespace

const AnalysisSpec& step_timeline_analysis() {
  static const AnalysisSpec spec =
      make_spec<StepTimeline>({.name = "step_timeline",
                               .summary = "The last steps of each rank, 1000 at most",
                               .spans = {SpanKind::step}});
  return spec;
}

}  // namespace trainwatch
