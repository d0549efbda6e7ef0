// SPDX-License-Identifier: Apache-2.0
// Finds out why an interval was slow, from everything known about that interval: what the rule
// itself saw, other spans of the same rank, and the node's system samples.
#pragma once

#include <optional>

#include "pipeline/analysis/core/span_history.h"
#include "pipeline/analysis/core/system_history.h"
#include "trainwatch/verdict.h"

namespace trainwatch {

class Attribution {
 public:
  Attribution(const SystemHistory& system, const SpanHistory& spans)
      : system_(system), spans_(spans) {}

  // Adds what other spans of the same rank say, unless the rule knows enough: the start of a
  // loader; the time outside the phases of the step. Final, as later spans replace these.
  void add_spans(Verdict& verdict, SubjectId subject) const;

  // The best explanation of the verdict's window, the most specific first: garbage collection, a
  // compilation or a checkpoint inside it; a GPU's clocks that were held back, where computation
  // took longer or the verdict does not say what did; I/O wait, a saturated core, tasks that waited
  // for disk, memory or CPU (PSI), or a container's CPU quota, also where the verdict says that
  // training waited for its data, as that is why, or that it computed longer while no core was
  // free; what the verdict is sure of (it covers at least half of the lost time). Else
  // `unattributed` with the inputs that are missing.
  Cause explain(const Verdict& verdict, SubjectId subject) const;

  // What the samples of the node say: the part of explain() that needs no spans. nullopt: nothing.
  std::optional<Cause> from_node(const Verdict& verdict, SubjectId subject) const;

  // A cause must explain this share of the lost time.
  static constexpr double kEnough = 0.5;
  static bool is_enough(const Cause& cause) { return cause.coverage >= kEnough; }

  // True when nothing that is read later can change explain(): the node's samples have passed the
  // end of the window.
  bool settled(const Verdict& verdict, SubjectId subject) const {
    return system_.passed(subject, verdict.window_end);
  }

 private:
  std::optional<Cause> from_span(const Verdict& verdict, SubjectId subject, SpanKind kind) const;
  std::optional<Cause> from_phases(const Verdict& verdict, SubjectId subject) const;

  const SystemHistory& system_;
  const SpanHistory& spans_;
};

}  // namespace trainwatch
