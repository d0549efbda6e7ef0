// What the framework did, by name and step; asked of an interval, what happened in it. smdebug's
// TimelineCharts.find_time_annotations.
#include <algorithm>
#include <map>
#include <tuple>
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
    const Key key{{span.metric(), span.phase}, span.step};
    auto entry = annotations_.find(key);
    if (entry == annotations_.end()) {
      if (annotations_.size() == kMaxAnnotations) {
        ++left_out_;
        return;
      }
      entry = annotations_.try_emplace(key).first;
    }
    entry->second.add(span);
  }

  void state(StateIo& io) override {
    io(annotations_);
    io(left_out_);
    if (annotations_.size() > kMaxAnnotations) io.fail();
    for (const auto& [key, sum] : annotations_) {
      const auto [name, phase] = key.first;
      if (!is_known(interner_, name) || !is_known(interner_, phase)) io.fail();
    }
  }

  Figures figures() const override {
    Figures out;
    std::vector<const Annotations::value_type*> rows;
    for (const auto& entry : annotations_) rows.push_back(&entry);
    std::sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
      return std::tie(a->second.start, a->first) < std::tie(b->second.start, b->first);
    });
    FigureTable& table = out.table("annotations", {"framework_metric", "process", "step",
                                                   "start_time_us", "duration_us", "count"});
    for (const auto* row : rows) {
      const auto& [key, sum] = *row;
      table.row(interner_.text(key.first.first), interner_.text(key.first.second), key.second,
                to_us(sum.start), to_us(sum.duration), sum.count);
    }
    out.add("left_out", left_out_);
    return out;
  }

 private:
  using Key = std::pair<std::pair<Symbol, Symbol>, std::int64_t>;  // metric and phase, step
  using Annotations = std::map<Key, Annotated>;

  const Interner& interner_;
  Annotations annotations_;
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
