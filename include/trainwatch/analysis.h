// The analysis interface, the twin of rule.h: a rule says when something is wrong, an analysis says
// what the job was like so far. An analysis is three methods and one spec, in one file of
// pipeline/analysis/:
//
//     class JobStatistics final : public Analysis {
//       void on(const Event& event) override;           // O(1) or O(log n): no I/O, no clock
//       void on_cycle(const CycleTrace& cycle) override;  // instead, or also
//       void state(StateIo& io) override;               // every field that must survive
//       Figures figures() const override;               // the result, as docs/analyses.md has it
//     };
//     extern const AnalysisSpec job_statistics_spec = {...};
//
// The engine makes one instance per job and hands it the events of that job of the kinds that the
// spec names, and the cycles, in file order within a lane. What it finds must not depend on how
// lanes interleave. State is bounded: windows are exact, and what covers a whole job is counted or
// sketched.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "trainwatch/cycle_trace.h"
#include "trainwatch/event.h"
#include "trainwatch/figures.h"
#include "trainwatch/interner.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class Analysis {
 public:
  virtual ~Analysis() = default;
  virtual void on(const Event& event) { static_cast<void>(event); }
  virtual void on_cycle(const CycleTrace& cycle) { static_cast<void>(cycle); }
  virtual void state(StateIo& io) = 0;
  // The result so far.
  virtual Figures figures() const = 0;
};

// What `analyze` may ask of an analysis.
struct AnalysisOptions {
  StepSelection steps = StepSelection::included;
  std::string op{};  // part of the names of the operators that are asked for; empty: all
};

struct AnalysisSpec {
  std::string_view name;
  std::string_view summary;  // one line
  bool samples = false;
  std::vector<SpanKind> spans{};
  std::unique_ptr<Analysis> (*make)(const Interner& interner,
                                    const AnalysisOptions& options) = nullptr;
  // False: the daemon runs it only where it is named. What it says is of use for an interval, which
  // only `analyze` can choose.
  bool live = true;
  bool cycles = false;  // takes the cycles of profilers
  // Cycles with CycleTrace::host, which take several times the memory. Never `live`.
  bool host_events = false;
};

using AnalysisCatalog = std::span<const AnalysisSpec* const>;

inline std::vector<SpanKind> every_span_kind() {
  std::vector<SpanKind> kinds;
  for (std::size_t i = 0; i < static_cast<std::size_t>(SpanKind::count_); ++i) {
    kinds.push_back(static_cast<SpanKind>(i));
  }
  return kinds;
}

// With the options, or the steps, for those whose constructor takes them.
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

}  // namespace trainwatch
