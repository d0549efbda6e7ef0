// How the durations of steps, forward and backward passes are distributed, per rank.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "pipeline/analysis/table_cells.h"
#include "trainwatch/analysis.h"
#include "trainwatch/stats/distribution.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxGroups = 4096;
constexpr std::size_t kStepBins = 50;

bool is_shown(std::string_view phase) {
  return phase.find("Step:ModeKeys") != std::string_view::npos || phase.ends_with("Forward") ||
         phase.ends_with("Backward(post-forward)");
}

// From the shortest to two standard deviations above the median; what is longer is not shown.
std::vector<double> edges_of(const Distribution& values, const Distribution::Sorted& sorted) {
  const double from = values.min();
  const double width = sorted.quantile(0.5) + 2 * sorted.standard_deviation() - from;
  std::vector<double> edges;
  if (!(width > 0)) return edges;
  for (std::size_t i = 0; i <= kStepBins; ++i) {
    edges.push_back(from + width * static_cast<double>(i) / kStepBins);
  }
  return edges;
}

class StepHistogram final : public Analysis {
 public:
  explicit StepHistogram(const Interner& interner) : interner_(interner) {}

  void on_span(const Span& span) override {
    if (span.origin != Origin::timeline) return;
    const Key key{span.subject, span.phase};
    auto entry = durations_.find(key);
    if (entry == durations_.end()) {
      if (durations_.size() == kMaxGroups || !is_shown(interner_.text(span.phase))) return;
      entry = durations_.try_emplace(key).first;
    }
    entry->second.add(static_cast<double>(span.duration.count()) / 1e3);
  }

  void state(StateIo& io) override {
    io(durations_);
    for (const auto& [key, values] : durations_) {
      if (!is_known(interner_, key.first) || !is_known(interner_, key.second)) io.fail();
    }
  }

  Figures figures() const override {
    Figures out;
    std::map<std::string, const Distribution*> ordered;
    for (const auto& [key, values] : durations_) {
      ordered[std::string(interner_.text(key.second)) +
              "-nodeid:" + rank_name(interner_, key.first)] = &values;
    }
    for (const auto& [key, values] : ordered) {
      add_histogram(out.group(key), *values);
    }
    return out;
  }

 private:
  using Key = std::pair<SubjectId, Symbol>;

  static void add_histogram(Figures& out, const Distribution& values) {
    const auto sorted = values.sorted();
    const std::vector<double> edges = edges_of(values, sorted);
    Figures::Counts counts(edges.empty() ? 0 : kStepBins);
    if (!counts.empty()) {
      sorted.each([&](double value, std::uint64_t times) {
        const double inside = std::max(value, edges.front());  // a sketched value may be below
        if (inside > edges.back()) return;
        const auto above = std::upper_bound(edges.begin(), edges.end(), inside) - edges.begin();
        counts[std::min(static_cast<std::size_t>(above) - 1, counts.size() - 1)] += times;
      });
    }
    out.add("n", values.count());
    out.add("counts", std::move(counts)).add("bin_edges_us", edges);
  }

  const Interner& interner_;
  std::map<Key, Distribution> durations_;  // microseconds
};

}  // namespace

const AnalysisSpec& step_histogram_analysis() {
  static const AnalysisSpec spec = make_spec<StepHistogram>(
      {.name = "step_histogram",
       .summary = "How long steps, forward and backward passes take, as histograms",
       .spans = {SpanKind::step, SpanKind::forward, SpanKind::backward}});
  return spec;
}

}  // namespace trainwatch
