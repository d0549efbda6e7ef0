// SPDX-License-Identifier: Apache-2.0
// Assembles what the ranks of a job measured in the same step, from profiler cycles that arrive in
// any order of the ranks.
//
// A step is complete when all ranks of the job have it. If the daemon sees only some of them, or
// their number is unknown, it is complete a minute (of the daemon's clock) after the last cycle, or
// at the end of the input. When a step is complete, so are the earlier ones: the steps of a rank
// come in order. A rank whose step numbers go back was restarted and starts over.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "trainwatch/cycle_summary.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"

namespace trainwatch {

struct RankStep {
  SubjectId rank = SubjectId::none;
  StepSummary step{};
};

struct JobStep {
  std::vector<RankStep> ranks;  // by rank and node; one entry for each
  bool restarts = false;        // the first step of an attempt that is not the first

  Time begin() const;  // of the first rank
};

class StepAligner {
 public:
  static constexpr Nanos kLateness = std::chrono::seconds(60);
  static constexpr std::size_t kMostPending = 1U << 16U;  // counted over all ranks

  enum class Collectives : std::uint8_t { dropped, kept };

  StepAligner(const Interner& interner, Collectives collectives)
      : interner_(interner), collectives_(collectives) {}

  // Each returns the steps that are now complete, in order. A cycle without device activity is left
  // out: how its steps spent their time is unknown. So are the steps of a warm-up.
  std::vector<JobStep> add(const CycleSummary& cycle);
  std::vector<JobStep> tick(Time now);
  std::vector<JobStep> end();  // of the input

  // Ranks of the job, as the latest cycle says; 0: not known.
  std::int64_t world_size() const { return world_size_; }

  // What the latest cycle lacks for its steps to be compared: "gpu activity", "steps".
  std::vector<std::string_view> missing() const;

  void state(StateIo& io);

 private:
  // The pending steps up to this number.
  std::vector<JobStep> take(std::int64_t last);
  void put(RankStep step);

  const Interner& interner_;
  Collectives collectives_;
  std::map<std::int64_t, JobStep> pending_;   // by step number
  std::map<SubjectId, std::int64_t> newest_;  // step of each rank
  std::size_t pending_size_ = 0;
  std::int64_t world_size_ = 0;
  bool restarted_ = false;             // no step was taken since
  bool without_activity_ = false;      // the latest cycle
  bool without_steps_ = false;         // the latest cycle
  bool fresh_ = false;                 // a cycle came since the last tick
  std::optional<Time> quiet_since_{};  // of the daemon's clock, while something is pending
};

}  // namespace trainwatch
