// SPDX-License-Identifier: Apache-2.0
// The newest dump of each rank and what NCCL's watchdog printed there, by job, and what they say
// together. What is kept is bounded, survives a restart, and does not depend on the order in which
// files are read. Lines count only for ranks without a dump.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "pipeline/decode/flight_recorder/flight_dump.h"
#include "pipeline/hang/watchdog_dumps.h"
#include "trainwatch/hang.h"
#include "trainwatch/state_io.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class HangTracker {
 public:
  // Of one job; the dumps and lines of further ranks are not kept.
  static constexpr std::size_t kMostRanks = 16384;
  static constexpr std::size_t kMostLines = 32;  // of a rank, the newest
  // Of all jobs, in lines; of further ranks none is kept.
  static constexpr std::size_t kMostLinesInAll = std::size_t{1} << 15U;
  // Of all jobs, in dumps, about 100 MB; dumps beyond are as if they were missing.
  static constexpr std::size_t kMostOperations = std::size_t{1} << 19U;
  // Dumps of one hang come within seconds. Ranks whose dump is missing for so long have none.
  static constexpr Nanos kSettled = std::chrono::seconds(10);

  void add(SubjectId job, RankDump dump);
  void add(SubjectId job, WatchdogLine line);

  // The findings that are new: of jobs of which all ranks have a dump; at `now`, of those whose
  // last dump or line is kSettled ago as well; at the end, of all.
  std::vector<HangFinding> take_complete();
  std::vector<HangFinding> take_settled(Time now);
  std::vector<HangFinding> take_all();

  // A row for each rank.
  void save(StateRows& rows, bool all);
  bool load(const SavedState& saved);

 private:
  struct Job {
    std::map<std::int32_t, RankDump> dumps;
    WatchdogLines lines;

    // The time of the newest dump or line, and of the oldest that belongs to the same hang.
    Time newest() const;
    Time oldest() const;
    bool may_be_complete() const;
    // All members of all groups have a dump of the same hang.
    bool complete() const;
    HangFinding find() const;
    std::vector<std::int32_t> forget_before(Time oldest);
    // A dump without calls does not say whether its file is a copy: it is, if others are.
    std::vector<std::int32_t> date_copies();
  };
  using Place = std::pair<SubjectId, std::int32_t>;

  void reopen(SubjectId job, Time at);
  void date_copies(SubjectId job);
  HangFinding find(SubjectId job);
  void save(StateRows& rows, Place place) const;
  bool load(Place place, StateIo io);

  std::map<SubjectId, Job> jobs_;
  std::map<SubjectId, Time> open_;  // not reported yet: the time of the newest dump or line
  std::set<Place> changed_;         // since they were saved
  bool open_changed_ = true;
  std::size_t operations_ = 0;  // in all dumps; a group counts as one more
  std::size_t lines_ = 0;       // of all ranks
};

}  // namespace trainwatch
