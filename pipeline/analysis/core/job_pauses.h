// SPDX-License-Identifier: Apache-2.0
// The pauses of the ranks of each job: checkpoints and evaluations that they mark, and what they do
// for long between two steps. While one rank saves, all others wait for it; it is the one that
// knows why.
//
// Bounded: the latest kMost of each job. O(1) per step; O(ranks) per question.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/ring_queue.h"
#include "trainwatch/rule.h"
#include "trainwatch/state_io.h"
#include "trainwatch/subject_map.h"

namespace trainwatch {

class JobPauses final : public PauseActivity {
 public:
  static constexpr std::size_t kMost = 256;

  explicit JobPauses(const Interner& interner) : interner_(interner) {}

  // Of a timeline: a checkpoint or an evaluation; others are ignored.
  void on(const Span& span) {
    if (span.kind == SpanKind::checkpoint || span.kind == SpanKind::evaluation) mark(span);
  }
  // The rank did something else than train, or waited for data.
  void paused(SubjectId rank, Time from, Time to);
  // The timeline of the rank was read to there.
  void reached(SubjectId rank, Time time);

  Nanos of_others(SubjectId rank, Time from, Time to) const override;
  bool passed(SubjectId rank, Time time) override;
  bool has_others(SubjectId rank) override;

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
    RingQueue<Pause> pauses;            // the oldest first
    std::map<SubjectId, Time> reached;  // by rank
    Time all = kNoTime;                 // all ranks were read to there
    void state(StateIo& io) {
      io(pauses);
      io(reached);
      io(all);
      if (pauses.size() > kMost) io.fail();
    }
  };

  void mark(const Span& span);
  const Job* find(SubjectId rank) const;
  void find_ranks();

  const Interner& interner_;
  std::map<std::string, Job> jobs_;
  SubjectId latest_ = SubjectId::none;
  Time* latest_reached_ = nullptr;  // of latest_: steps of one rank come together
  std::size_t subjects_ = 0;        // that were looked at
  bool changed_ = false;
};

}  // namespace trainwatch
