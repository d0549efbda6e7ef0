// SPDX-License-Identifier: Apache-2.0
// The pauses of the ranks of each job: marked checkpoints and evaluations, and long times between
// two steps. While one rank saves, all others wait for it, and only that rank knows why.
//
// Bounded: the latest kMost of each job. O(ranks) per question, O(1) if all ranks were read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/analysis/core/iteration_tracker.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/ring_queue.h"
#include "trainwatch/rule.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class JobPauses final : public PauseActivity {
 public:
  static constexpr std::size_t kMost = 256;

  JobPauses(const Interner& interner, const IterationTracker& iterations)
      : interner_(interner), iterations_(iterations) {}

  // Takes checkpoints and evaluations of timelines; other spans are ignored.
  void on(const Span& span) {
    if (span.kind == SpanKind::checkpoint || span.kind == SpanKind::evaluation) mark(span);
  }
  // The rank did not train, or it waited for data.
  void paused(SubjectId rank, Time from, Time to);

  Nanos of_others(SubjectId rank, Time from, Time to) const override;
  bool passed(SubjectId rank, Time time) override;
  bool knows_all(SubjectId rank, std::uint32_t world) override;

  // Whether there are new pauses since the last call.
  bool take_changed() { return std::exchange(changed_, false); }
  void state(StateIo& io);

 private:
  struct Pause {
    SubjectId rank = SubjectId::none;
    Time from{};
    Time to{};
    void state(StateIo& io) {
      io(rank);
      io(from);
      io(to);
      if (!is_possible(from) || !is_possible(to)) io.fail();
    }
  };
  struct Job {
    RingQueue<Pause> pauses;  // the oldest first
    // Not saved:
    std::vector<SubjectId> ranks;
    Time read_to = kNoTime;  // the timelines of all ranks
    void state(StateIo& io) {
      io(pauses);
      if (pauses.size() > kMost) io.fail();
    }
  };

  void mark(const Span& span);
  const Job* find(SubjectId rank) const;
  void find_ranks();
  bool trains(SubjectId rank) const;

  const Interner& interner_;
  const IterationTracker& iterations_;
  std::map<std::string, Job> jobs_;
  std::size_t subjects_ = 0;  // whose jobs know them
  bool changed_ = false;
};

}  // namespace trainwatch
