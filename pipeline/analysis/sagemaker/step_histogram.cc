// SPDX-License-Identifier: Apache-2.0
// How the durations of steps, forward and backward passes are distributed, per rank.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "pipeline/analysis/table_cells.h"
#include "trainwatch/analysis.h"
#include "trainwatch/stats/distribution.h"
#include "trainwatch/subject_map.h"

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
    if (Distribution* const durations = of(span.subject, span.phase)) {
      durations->add(static_cast<double>(span.duration.count()) / 1e3);
    }
  }

  void state(StateIo& io) override {
    io(durations_);
    groups_ = 0;
    for (const auto& [rank, phases] : durations_) {
      groups_ += phases.size();
      if (!is_known(interner_, rank)) io.fail();
      for (const auto& [phase, values] : phases) {
        if (!is_known(interner_, phase)) io.fail();
      }
    }
  }

  Figures figures() const override {
    Figures out;
    std::map<std::string, const Distribution*> ordered;
    for (const auto& [rank, phases] : durations_) {
      const std::string node = "-nodeid:" + rank_name(interner_, rank);
      for (const auto& [phase, values] : phases) {
        ordered[std::string(interner_.text(phase)) + node] = &values;
      }
    }
    for (const auto& [key, values] : ordered) {
      add_histogram(out.group(key), *values);
    }
    return out;
  }

 private:
  // Null: it is not shown, or there is no room.
  Distribution* of(SubjectId rank, Symbol phase) {
    if (auto* const phases = durations_.find(rank)) {
      if (const auto known = phases->find(phase); known != phases->end()) return &known->second;
    }
    if (groups_ == kMaxGroups || !is_shown(interner_.text(phase))) return nullptr;
    ++groups_;
    return &durations_[rank][phase];
  }

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
  SubjectMap<std::map<Symbol, Distribution>> durations_;  // by phase, microseconds
  std::size_t groups_ = 0;                                // of all ranks
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
