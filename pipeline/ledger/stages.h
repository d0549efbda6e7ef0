// SPDX-License-Identifier: Apache-2.0
// The stages of a training in its account: each has a clean pace of its own, as larger batches and
// longer sequences take longer, and no time is lost by that.
//
// A stage is confirmed by its third record. The iterations before that are measured by the stage
// before, whose steps then count as work in proportion to the size. So are those between the
// records before and after the change, as nothing says of which size they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "pipeline/analysis/core/work_stages.h"
#include "pipeline/ledger/clean_pace.h"
#include "trainwatch/state_io.h"
#include "trainwatch/symbol_table.h"
#include "trainwatch/time.h"

namespace trainwatch {

// When the size of a step has changed, as one rank logs it.
class StageHistory {
 public:
  static constexpr std::size_t kMost = 8;

  // Of an iteration.
  struct Place {
    std::uint32_t stage = 0;
    double work = 1;  // at least, in steps of this stage
  };

  // Call when an attempt begins: another rank may log its changes, and an unconfirmed change is
  // dropped.
  void begin_attempt();
  // What the rank logs. The first rank that logs a change speaks for all.
  void on(SubjectId rank, const WorkChange& change);
  Place at(Time end) const;

  void state(StateIo& io);

 private:
  struct Change {
    Time before{};  // of the last record with the old size
    Time first{};   // of the first one with the new
    double work = 1;
    bool sure = false;
    void state(StateIo& io);
  };

  std::deque<Change> changes_;  // only the last is not sure
  std::uint32_t forgotten_ = 0;
  std::optional<SubjectId> rank_;
};

// The clean pace of each of the last stages.
class StagePaces {
 public:
  static constexpr std::size_t kMost = 4;

  CleanPace& of(std::uint32_t stage);
  // That of the newest stage for which it is known, or else of the newest.
  const CleanPace& latest() const;
  // Null: none of its iterations was looked at.
  const CleanPace* find(std::uint32_t stage) const;

  void state(StateIo& io);

 private:
  std::map<std::uint32_t, CleanPace> paces_;
};

}  // namespace trainwatch
