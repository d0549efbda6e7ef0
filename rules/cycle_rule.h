// SPDX-License-Identifier: Apache-2.0
// A rule that evaluates each profiler cycle of a rank separately, without the steps of its warm-up.
// Its alert continues from cycle to cycle: opened by a cycle that reaches the threshold, updated by
// every further one that does, ended by the first that is clearly below.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rules/cycle_cost.h"
#include "rules/cycle_evidence.h"
#include "trainwatch/cycle_summary.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"

namespace trainwatch {

class CycleRule : public Rule {
 public:
  // What a cycle must have to be evaluated; other cycles change nothing.
  enum class Needs : std::uint8_t { activity, launched_activities };

  void on_cycle(const CycleSummary& cycle, Verdicts& out) final;
  void state(StateIo& io) final;
  bool warming() const final { return !judged_; }
  std::vector<std::string_view> missing() const final;

 protected:
  explicit CycleRule(Needs needs) : needs_(needs) {}

  // An alert that reached its threshold stays open down to this share of it.
  static constexpr double kStays = 0.7;

  // nullopt: the cycle does not show the condition. `lost_seconds` are those of this cycle. The
  // summary says what is without a full stop; since when, and how much it costs, is added, with the
  // times. A value below the threshold keeps an alert open, but opens none; return it from kStays
  // of the threshold on.
  virtual std::optional<Verdict> judge(const CycleSummary& cycle) const = 0;

 private:
  bool is_judgeable(const CycleSummary& cycle);
  void judge_regular(const CycleSummary& cycle, Verdicts& out);

  Needs needs_;
  CycleEvidence evidence_;         // of the cycles in a row that show the condition
  CycleCost cost_;                 // of the same
  bool judged_ = false;            // some cycle
  bool without_activity_ = false;  // the latest cycle
  bool without_launches_ = false;  // most activities of the latest cycle
};

namespace cycle_text {

constexpr std::array<std::string_view, kIdleReasons> kReasons = {
    "data_wait", "host_pause", "synchronization", "launch", "queued"};

// The cause of idle time: the largest of `reasons`, if it is at least half of `whole_ns`.
Cause cause_of_idle(const CycleSummary& cycle, std::span<const IdleReason> reasons,
                    std::int64_t whole_ns);

// "idle_seconds_by_reason":{...}
void write_idle(JsonWriter& json, const CycleSummary& cycle);

}  // namespace cycle_text

// The median over the steps of a part of each, as a percentage of its duration; 0 if there are
// none.
double median_percent(std::span<const StepSummary> steps,
                      std::int64_t (*part)(const StepSummary& step));

}  // namespace trainwatch
