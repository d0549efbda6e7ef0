// Puts together what the ranks of a job measured in the same step, from profiler cycles that come
// in any order of the ranks.
//
// A step is complete when all ranks of the job told it. Where the daemon sees only some of them, or
// nothing says how many there are, it is complete a minute (of the daemon's clock) after the last
// cycle, or at the end of the input. With a complete step the earlier ones are complete, too: a
// rank tells its steps in order. A rank that tells a step again was restarted, and begins anew.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "trainwatch/cycle_measure.h"
#include "trainwatch/event.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

struct RankStep {
  SubjectId rank = SubjectId::none;
  StepMeasure step{};

  void state(StateIo& io) {
    io(rank);
    io(step);
  }
};

// By rank and node; one entry for each rank.
using JobStep = std::vector<RankStep>;

class RankSteps {
 public:
  static constexpr Nanos kLateness = std::chrono::seconds(60);
  static constexpr std::size_t kMostPending = 4096;  // steps of ranks

  enum class Collectives : std::uint8_t { dropped, kept };

  RankSteps(const Vocabulary& vocabulary, Collectives collectives)
      : vocabulary_(vocabulary), collectives_(collectives) {}

  // Takes a cycle, a tick or the end of the input. The steps that are now complete, in order. A
  // cycle without work on a device is left out: nothing says what its steps went into.
  std::vector<JobStep> on(const Event& event);

  // What the latest cycle lacks for its steps to be compared: "gpu work", "steps".
  std::vector<std::string_view> missing() const;

  void state(StateIo& io);

 private:
  std::vector<JobStep> add(const CycleMeasure& cycle);
  std::vector<JobStep> pass(Time now);
  // The pending steps up to this number.
  std::vector<JobStep> take(std::int64_t last);
  std::vector<JobStep> take_all();
  void put(RankStep step);

  const Vocabulary& vocabulary_;
  Collectives collectives_;
  std::map<std::int64_t, JobStep> pending_;   // by step number
  std::map<SubjectId, std::int64_t> newest_;  // step of each rank
  std::size_t pending_size_ = 0;
  std::int64_t world_size_ = 0;
  bool without_work_ = false;          // the latest cycle
  bool without_steps_ = false;         // the latest cycle
  bool fresh_ = false;                 // a cycle came since the last tick
  std::optional<Time> quiet_since_{};  // of the daemon's clock, while something is pending
};

}  // namespace trainwatch
