// How long the parts of a training step take: by training phase, by name and by process.
#include <map>
#include <string>

#include "pipeline/analysis/json_table.h"
#include "pipeline/analysis/per_rank.h"
#include "pipeline/analysis/step_extents.h"
#include "trainwatch/analysis.h"
#include "trainwatch/stats/distribution.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxNames = 500;

// The durations of the steps so far, in microseconds.
struct Durations {
  std::map<Symbol, Distribution> by_name;
  std::map<Symbol, Distribution> by_phase;
  std::uint64_t left_out = 0;  // beyond kMaxNames

  void add(const StepExtents::OpenStep& step) {
    std::map<Symbol, StepExtents::Extent> names;
    std::map<Symbol, StepExtents::Extent> phases;
    for (const auto& [key, extent] : step.parts) {
      names.try_emplace(key.name, extent).first->second.cover(extent);
      phases.try_emplace(key.phase, extent).first->second.cover(extent);
    }
    add(by_name, names);
    add(by_phase, phases);
  }

  void state(StateIo& io) {
    io(by_name);
    io(by_phase);
    io(left_out);
  }

 private:
  void add(std::map<Symbol, Distribution>& into,
           const std::map<Symbol, StepExtents::Extent>& extents) {
    for (const auto& [symbol, extent] : extents) {
      auto entry = into.find(symbol);
      if (entry == into.end() && into.size() == kMaxNames) {
        ++left_out;
        continue;
      }
      if (entry == into.end()) entry = into.try_emplace(symbol).first;
      entry->second.add(static_cast<double>((extent.end - extent.start).count()) / 1e3);
    }
  }
};

class StepStatistics final : public Analysis {
 public:
  explicit StepStatistics(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), ranks_(vocabulary) {}

  void on(const Event& event) override {
    const auto* span = std::get_if<Span>(&event);
    if (span == nullptr || span->origin != Origin::timeline) return;
    StepExtents* const rank = ranks_.of(span->subject);
    if (rank == nullptr) return;
    rank->on(*span, [this](const StepExtents::OpenStep& step) { durations_.add(step); });
  }

  void state(StateIo& io) override {
    ranks_.state(io, [&](StepExtents& extents) { extents.state(io, vocabulary_); });
    io(durations_);
    if (!io.is_loading()) return;
    for (const auto* table : {&durations_.by_name, &durations_.by_phase}) {
      for (const auto& [symbol, values] : *table) {
        if (!is_known(vocabulary_, symbol)) io.fail();
      }
    }
  }

  void write(JsonWriter& json) const override {
    Durations all = durations_;
    for (const auto& [subject, extents] : ranks_.all()) {
      for (const auto& step : extents.open()) {
        if (step.known) all.add(step);
      }
    }
    json.begin_object();
    write_table(json, "training_phase", all.by_name, true);
    write_table(json, "framework_metric", all.by_name, false);
    write_table(json, "process", all.by_phase, false);
    json.field("left_out", all.left_out).end_object();
  }

 private:
  void write_table(JsonWriter& json, std::string_view what,
                   const std::map<Symbol, Distribution>& values, bool steps_only) const {
    std::map<std::string_view, const Distribution*> ordered;
    for (const auto& [symbol, durations] : values) {
      const std::string_view name = vocabulary_.text(symbol);
      if (steps_only && name.find("Step:ModeKeys") == std::string_view::npos) continue;
      ordered[name] = &durations;
    }
    json.key(what);
    JsonTable table(json, {what, "duration_mean_us", "duration_min_us", "duration_max_us",
                           "duration_p50_us", "duration_p95_us", "duration_p99_us", "count"});
    for (const auto& [name, durations] : ordered) {
      const auto sorted = durations->sorted();
      table.row(name, durations->mean(), durations->min(), durations->max(), sorted.quantile(0.5),
                sorted.quantile(0.95), sorted.quantile(0.99), durations->count());
    }
    table.end();
  }

  const Vocabulary& vocabulary_;
  PerRank<StepExtents> ranks_;
  Durations durations_;
};

}  // namespace

extern const AnalysisSpec step_statistics_spec = {
    "step_statistics", "How long the parts of a step take, by training phase, name and process",
    false, every_span_kind(), make_analysis<StepStatistics>};

}  // namespace trainwatch
