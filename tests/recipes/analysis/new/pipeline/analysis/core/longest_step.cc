// SPDX-License-Identifier: Apache-2.0
// The longest training step of each rank.
#include <map>

#include "pipeline/analysis/table_cells.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxRanks = 1024;

class LongestStep final : public Analysis {
 public:
  explicit LongestStep(const Interner& interner) : interner_(interner) {}

  void on_span(const Span& step) override {
    if (step.origin != Origin::timeline) return;
    if (ranks_.size() == kMaxRanks && !ranks_.contains(step.subject)) return;
    Longest& longest = ranks_[step.subject];
    if (step.duration <= longest.duration) return;
    longest.duration = step.duration;
    longest.step = step.step;
  }

  // Everything that must survive a restart, with a check of what is loaded.
  void state(StateIo& io) override {
    io(ranks_);
    if (ranks_.size() > kMaxRanks) io.fail();
    for (const auto& [subject, longest] : ranks_) {
      if (!is_known(interner_, subject)) io.fail();
    }
  }

  Figures figures() const override {
    Figures out;
    FigureTable& table = out.table({"nodeID", "step", "duration_us"});
    for (const auto& [subject, longest] : ranks_) {
      const Subject& rank = interner_.subjects[subject];
      table.row(rank.node + "-" + std::to_string(rank.rank), longest.step,
                longest.duration.count() / 1000);
    }
    return out;
  }

 private:
  struct Longest {
    Nanos duration{};
    std::int64_t step = kNoStep;
  };

  const Interner& interner_;
  std::map<SubjectId, Longest> ranks_;
};

}  // namespace

const AnalysisSpec& longest_step_analysis() {
  static const AnalysisSpec spec =
      make_spec<LongestStep>({.name = "longest_step",
                              .summary = "The longest step of each rank",
                              .spans = {SpanKind::step}});
  return spec;
}

}  // namespace trainwatch
