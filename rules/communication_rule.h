// SPDX-License-Identifier: Apache-2.0
// Common base of the rules about communication: they look at the last steps of a job, and in each
// at the rank that waits least in communication. What even that rank spends there is transfer, not
// waiting for a slower rank; so a step counts only if all ranks of the job are seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "rules/cycle_cost.h"
#include "rules/cycle_evidence.h"
#include "rules/step_aligner.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch {

class CommunicationRule : public Rule {
 public:
  void on_cycle(const CycleSummary& cycle, Verdicts& out) final { add(steps_.add(cycle), out); }
  TickResult on_tick(Tick tick, Verdicts& out) final {
    add(steps_.tick(tick.now), out);
    return {.changed = true};
  }
  void on_end(Time, Verdicts& out) final { add(steps_.end(), out); }
  void state(StateIo& io) final;
  Lifecycle lifecycle() const final {
    return {.change = Lifecycle::Change::points, .min_change = kMinChange};
  }
  bool warming() const final { return exposed_.size() < kFewestSteps; }
  std::vector<std::string_view> missing() const final;

 protected:
  static constexpr std::size_t kFewestSteps = 3;
  static constexpr double kMinChange = 5;  // percent points
  // An alert that reached its threshold stays open down to this share of it.
  static constexpr double kStays = 0.7;

  CommunicationRule(std::int64_t window, const RuleContext& context);

  // Medians over the window, in percent of the step; `hidden` in percent of the communication.
  struct Shares {
    std::size_t steps = 0;
    double exposed = 0;
    double communication = 0;
    double hidden = 0;
    double within_layers = 0;  // of the exposed communication
  };
  // nullopt: the condition does not hold. One that opens no alert keeps one open. The summary is as
  // CycleCost wants it.
  struct Finding {
    Verdict verdict;
    bool opens = true;
  };
  virtual std::optional<Finding> judge(const Shares& shares) const = 0;

 private:
  void add(const std::vector<JobStep>& steps, Verdicts& out) {
    for (const JobStep& step : steps) add(step, out);
  }
  void add(const JobStep& step, Verdicts& out);
  void restart(Time at, Verdicts& out);
  Shares shares() const;

  StepAligner steps_;
  CycleEvidence evidence_;
  CycleCost cost_;             // of the steps in a row that show the condition
  bool ranks_unseen_ = false;  // in the latest step
  SortedWindow exposed_;
  SortedWindow communication_;
  SortedWindow hidden_;
  SortedWindow within_layers_;
};

}  // namespace trainwatch
