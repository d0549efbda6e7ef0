// SPDX-License-Identifier: Apache-2.0
// The analysis interface, the counterpart of rule.h: a rule says when something is wrong, an
// analysis what the job was like so far. An analysis is a method per kind of event that it wants,
// its state, its result and one spec, in one file of pipeline/analysis/:
//
//     class Heatmap final : public Analysis {
//       void on_sample(const Sample& sample) override;  // O(1) or O(log n): no I/O, no clock
//       void state(StateIo& io) override;               // every field that must survive
//       Figures figures() const override;               // the result, as docs/analyses.md has it
//     };
//     const AnalysisSpec& heatmap_analysis();   // returns make_spec<Heatmap>({...})
//
// The engine makes one instance per job and passes it the events of that job that it asked for, in
// file order within a lane. The result must not depend on how lanes interleave. State is bounded:
// windows are exact; what covers a whole job is counted or sketched.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "trainwatch/cycle_trace.h"
#include "trainwatch/event.h"
#include "trainwatch/figures.h"
#include "trainwatch/interest.h"
#include "trainwatch/interner.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class Analysis {
 public:
  virtual ~Analysis() = default;

  // Each takes one event: the methods that a class overrides are called, and no other. Nothing in
  // an argument may be kept beyond the call.
  virtual void on_sample(const Sample&) {}     // of AnalysisText::samples
  virtual void on_span(const Span&) {}         // of AnalysisText::spans
  virtual void on_cycle(const CycleTrace&) {}  // a rank's profiler cycle, complete

  virtual void state(StateIo& io) = 0;
  // The result so far.
  virtual Figures figures() const = 0;
};

// What `analyze` may request of an analysis.
struct AnalysisOptions {
  StepSelection steps = StepSelection::included;
  std::string op{};  // part of the names of the requested operators; empty: all
};

struct AnalysisSpec {
  std::string_view name;
  std::string_view summary;  // one line
  Interest interest{};
  // False: the daemon runs it only if it is named. Its result is useful for an interval, which only
  // `analyze` can choose.
  bool live = true;
  // Cycles with CycleTrace::host, which take several times the memory. Never `live`.
  bool host_events = false;
  std::unique_ptr<Analysis> (*make)(const Interner& interner,
                                    const AnalysisOptions& options) = nullptr;
};

// What differs between analyses; make_spec() adds the rest.
struct AnalysisText {
  std::string_view name;
  std::string_view summary;
  std::vector<Resource> samples{};  // whose samples on_sample() gets
  std::vector<SpanKind> spans{};    // which on_span() gets
  bool live = true;
  bool host_events = false;
};

namespace detail {

// With the options, or the steps, for those whose constructors take them.
template <class AnalysisType>
std::unique_ptr<Analysis> make_analysis(const Interner& interner, const AnalysisOptions& options) {
  if constexpr (std::is_constructible_v<AnalysisType, const Interner&, const AnalysisOptions&>) {
    return std::make_unique<AnalysisType>(interner, options);
  } else if constexpr (std::is_constructible_v<AnalysisType, const Interner&, StepSelection>) {
    return std::make_unique<AnalysisType>(interner, options.steps);
  } else {
    static_cast<void>(options);
    return std::make_unique<AnalysisType>(interner);
  }
}

}  // namespace detail

template <class AnalysisType>
AnalysisSpec make_spec(const AnalysisText& text) {
  return {
      .name = text.name,
      .summary = text.summary,
      .interest = detail::interest_of<Analysis, AnalysisType>(text.name, text.samples, text.spans),
      .live = text.live,
      .host_events = text.host_events,
      .make = detail::make_analysis<AnalysisType>};
}

}  // namespace trainwatch
