// Finds out why an interval was slow, from everything known about that interval: what the rule
// itself saw, other spans of the same rank, and the node's system samples.
#pragma once

#include "pipeline/analysis/core/span_history.h"
#include "pipeline/analysis/core/system_history.h"
#include "trainwatch/verdict.h"

namespace trainwatch {

class Attribution {
 public:
  Attribution(const SystemHistory& system, const SpanHistory& spans)
      : system_(system), spans_(spans) {}

  // The best explanation of the verdict's window. A cause of which the rule is sure (it covers at
  // least half of the lost time) stays. Otherwise: a checkpoint inside the window, I/O wait or a
  // saturated core well above the minute before; else `unattributed` with the missing inputs.
  Cause explain(const Verdict& verdict, SubjectId subject) const;

  // A cause must explain this share of the lost time.
  static constexpr double kEnough = 0.5;
  static bool is_enough(const Cause& cause) { return cause.coverage >= kEnough; }

  // True when nothing that is read later can change explain(): the node's samples have passed the
  // end of the window.
  bool settled(const Verdict& verdict, SubjectId subject) const {
    return system_.passed(subject, verdict.window_end);
  }

 private:
  const SystemHistory& system_;
  const SpanHistory& spans_;
};

}  // namespace trainwatch
