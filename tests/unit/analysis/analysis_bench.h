// SPDX-License-Identifier: Apache-2.0
// Feeds one analysis by hand. Times are microseconds.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "pipeline/analysis/catalog.h"

namespace trainwatch {

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class AnalysisBench {
 public:
  explicit AnalysisBench(std::string_view name, StepSelection steps = StepSelection::included,
                         const std::string& op = {})
      : spec_(find_analysis(name)), options_{steps, op}, analysis_(make()) {}

  SubjectId rank(const std::string& node, std::int32_t rank) {
    return interner_.subjects.intern({"", node, rank, ""}).value();
  }

  Symbol symbol(std::string_view text) { return interner_.symbols.intern(text); }

  Span span(std::string_view phase, std::string_view name, std::int64_t start,
            std::int64_t duration, std::int64_t step = kNoStep) {
    Span made;
    made.start = Time{std::chrono::microseconds(start)};
    made.duration = std::chrono::microseconds(duration);
    made.step = step;
    made.subject = rank("algo-1", 0);
    made.name = interner_.symbols.intern(name);
    made.phase = interner_.symbols.intern(phase);
    if (phase.starts_with("Step:ModeKeys.")) {
      made.kind = SpanKind::step;
      made.mode = phase.ends_with("EVAL") ? Mode::eval : Mode::train;
    }
    return made;
  }
  void step(std::int64_t start, std::int64_t duration, std::int64_t number,
            std::string_view phase = "Step:ModeKeys.TRAIN") {
    add(span(phase, phase, start, duration, number));
  }
  void sample(std::string_view type, std::string_view name, std::string_view dimension,
              std::int64_t at, double value) {
    Series series;
    series.subject = interner_.subjects.intern({"", "algo-1", kNoRank, ""}).value();
    series.type = interner_.symbols.intern(type);
    series.name = interner_.symbols.intern(name);
    series.dimension = interner_.symbols.intern(dimension);
    if (dimension == "CPUUtilization") series.resource = Resource::cpu_utilization;
    if (dimension == "GPUUtilization") series.resource = Resource::gpu_utilization;
    Sample made;
    made.resource = series.resource;
    made.at = Time{std::chrono::microseconds(at)};
    made.value = value;
    made.series = *interner_.series.intern(series);
    add(made);
  }
  void add(const Span& span) { analysis_->on_span(span); }
  void add(const Sample& sample) { analysis_->on_sample(sample); }
  void add(const CycleTrace& cycle) { analysis_->on_cycle(cycle); }

  Figures figures() const { return analysis_->figures(); }
  std::string text() const { return figures().json(); }
  std::string save() {
    StateIo io = StateIo::saving();
    analysis_->state(io);
    return io.take();
  }
  // Goes on with a new instance from the saved state.
  void save_and_load() {
    const std::string bytes = save();
    analysis_ = make();
    StateIo io = StateIo::loading(bytes);
    analysis_->state(io);
    EXPECT_TRUE(io.complete());
  }
  // Whether an instance takes these bytes for its state.
  bool loads(std::string_view bytes) {
    const auto other = make();
    StateIo io = StateIo::loading(bytes);
    other->state(io);
    return io.complete();
  }

 private:
  std::unique_ptr<Analysis> make() { return spec_->make(interner_, options_); }

  const AnalysisSpec* spec_;
  AnalysisOptions options_;
  Interner interner_;
  std::unique_ptr<Analysis> analysis_;
};

}  // namespace trainwatch
