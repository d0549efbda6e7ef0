// SPDX-License-Identifier: Apache-2.0
// How long the parts of a training step take: by training phase, by name and by process.
#include <cstdint>
#include <map>
#include <string>

#include "pipeline/analysis/per_rank.h"
#include "pipeline/analysis/sagemaker/step_extents.h"
#include "pipeline/analysis/table_cells.h"
#include "trainwatch/analysis.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/distribution.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxPhases = 500;

// The durations of the steps so far, in microseconds.
struct Durations {
  std::map<Symbol, Distribution> by_name;
  std::map<Symbol, Distribution> by_phase;
  std::uint64_t left_out = 0;  // beyond kMaxPhases

  void add(const StepExtents::OpenStep& step) {
    add(by_name, step.names);
    add(by_phase, step.phases);
  }

  void state(StateIo& io) {
    io(by_name);
    io(by_phase);
    io(left_out);
  }

 private:
  void add(std::map<Symbol, Distribution>& into, const SymbolExtents& extents) {
    extents.each([&](Symbol symbol, const TimeExtent& extent) {
      auto entry = into.find(symbol);
      if (entry == into.end() && into.size() == kMaxPhases) {
        ++left_out;
        return;
      }
      if (entry == into.end()) entry = into.try_emplace(symbol).first;
      entry->second.add(static_cast<double>((extent.end - extent.start).count()) / 1e3);
    });
  }
};

class StepStatistics final : public Analysis {
 public:
  explicit StepStatistics(const Interner& interner) : interner_(interner), ranks_(interner) {}

  void on_span(const Span& span) override {
    if (span.origin != Origin::timeline) return;
    StepExtents* const rank = ranks_.of(span.subject);
    if (rank == nullptr) return;
    rank->on(span, [this](const StepExtents::OpenStep& step) { durations_.add(step); });
  }

  void state(StateIo& io) override {
    ranks_.state(io, [&](StepExtents& extents) { extents.state(io, interner_); });
    io(durations_);
    if (!io.is_loading()) return;
    for (const auto* table : {&durations_.by_name, &durations_.by_phase}) {
      for (const auto& [symbol, values] : *table) {
        if (!is_known(interner_, symbol)) io.fail();
      }
    }
  }

  Figures figures() const override {
    Figures out;
    Durations all = durations_;
    for (const auto& [subject, extents] : ranks_.all()) {
      for (const auto& step : extents.open()) {
        if (step.known) all.add(step);
      }
    }
    add_table(out, "training_phase", all.by_name, true);
    add_table(out, "framework_metric", all.by_name, false);
    add_table(out, "process", all.by_phase, false);
    out.add("left_out", all.left_out);
    return out;
  }

 private:
  void add_table(Figures& out, std::string_view what, const std::map<Symbol, Distribution>& values,
                 bool steps_only) const {
    std::map<std::string_view, const Distribution*> ordered;
    for (const auto& [symbol, durations] : values) {
      const std::string_view name = interner_.text(symbol);
      if (steps_only && name.find("Step:ModeKeys") == std::string_view::npos) continue;
      ordered[name] = &durations;
    }
    FigureTable& table =
        out.table(what, {what, "duration_mean_us", "duration_min_us", "duration_max_us",
                         "duration_p50_us", "duration_p95_us", "duration_p99_us", "count"});
    for (const auto& [name, durations] : ordered) {
      const auto sorted = durations->sorted();
      table.row(name, durations->mean(), durations->min(), durations->max(), sorted.quantile(0.5),
                sorted.quantile(0.95), sorted.quantile(0.99), durations->count());
    }
  }

  const Interner& interner_;
  PerRank<StepExtents> ranks_;
  Durations durations_;
};

}  // namespace

const AnalysisSpec& step_statistics_analysis() {
  static const AnalysisSpec spec = make_spec<StepStatistics>(
      {.name = "step_statistics",
       .summary = "How long the parts of a step take, by training phase, name and process",
       .spans = every_span_kind()});
  return spec;
}

}  // namespace trainwatch
