// SPDX-License-Identifier: Apache-2.0
// What the framework did, by name and step; asked of an interval, what happened in it. smdebug's
// TimelineCharts.find_time_annotations.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "pipeline/analysis/table_cells.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxAnnotations = 65536;

// Of all events with one name in one step.
struct Annotated {
  Time start = kNoTime;  // of the first
  Nanos duration{};      // the sum
  std::uint64_t count = 0;

  void add(const Span& span) {
    start = count == 0 ? span.start : std::min(start, span.start);
    duration += span.duration;
    ++count;
  }
};

class TimeAnnotations final : public Analysis {
 public:
  explicit TimeAnnotations(const Interner& interner) : interner_(interner) {}

  void on_span(const Span& span) override {
    if (span.origin != Origin::timeline) return;
    const bool full = size_ == kMaxAnnotations;
    const Names names{span.metric(), span.phase};
    auto known = annotations_.find(names);
    if (full && (known == annotations_.end() || !known->second.contains(span.step))) {
      ++left_out_;
      return;
    }
    if (known == annotations_.end()) known = annotations_.try_emplace(names).first;
    Steps& steps = known->second;
    const std::size_t before = steps.size();
    steps.try_emplace(steps.end(), span.step)->second.add(span);  // most often the latest step
    size_ += steps.size() - before;
  }

  void state(StateIo& io) override {
    io(annotations_);
    io(left_out_);
    size_ = 0;
    for (const auto& [names, steps] : annotations_) {
      const auto [name, phase] = names;
      if (!is_known(interner_, name) || !is_known(interner_, phase)) io.fail();
      size_ += steps.size();
    }
    if (size_ > kMaxAnnotations) io.fail();
  }

  Figures figures() const override {
    struct Row {
      Names names;
      std::int64_t step = kNoStep;
      Annotated sum;
    };
    Figures out;
    std::vector<Row> rows;
    for (const auto& [names, steps] : annotations_) {
      for (const auto& [step, sum] : steps) rows.push_back({names, step, sum});
    }
    std::ranges::sort(
        rows, {}, [](const Row& row) { return std::tuple(row.sum.start, row.names, row.step); });
    FigureTable& table = out.table("annotations", {"framework_metric", "process", "step",
                                                   "start_time_us", "duration_us", "count"});
    for (const auto& [names, step, sum] : rows) {
      table.row(interner_.text(names.first), interner_.text(names.second), step, to_us(sum.start),
                to_us(sum.duration), sum.count);
    }
    out.add("left_out", left_out_);
    return out;
  }

 private:
  using Names = std::pair<Symbol, Symbol>;  // metric and phase
  using Steps = std::map<std::int64_t, Annotated>;

  const Interner& interner_;
  std::map<Names, Steps> annotations_;
  std::size_t size_ = 0;        // of all Steps
  std::uint64_t left_out_ = 0;  // events
};

}  // namespace

const AnalysisSpec& time_annotations_analysis() {
  static const AnalysisSpec spec = make_spec<TimeAnnotations>(
      {.name = "time_annotations",
       .summary = "What the framework did and for how long; for an interval",
       .spans = every_span_kind(),
       .live = false});
  return spec;
}

}  // namespace trainwatch
