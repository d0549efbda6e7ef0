// The newest dump of each rank, by job, and what they say together. What is kept of a dump is
// bounded, survives a restart, and does not depend on the order in which dumps are read.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "pipeline/decode/flight_recorder/flight_dump.h"
#include "trainwatch/hang.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class HangTracker {
 public:
  // Of one job; the dumps of further ranks are not kept.
  static constexpr std::size_t kMostRanks = 16384;
  // Dumps of one hang come within seconds. Ranks whose dump is missing for so long have none.
  static constexpr Nanos kSettled = std::chrono::seconds(10);

  void add(SubjectId job, RankDump dump);

  // The findings that are new: of jobs of which all ranks have a dump; at `now`, of those whose
  // last dump is kSettled ago as well; at the end, of all.
  std::vector<HangFinding> take_complete();
  std::vector<HangFinding> take_settled(Time now);
  std::vector<HangFinding> take_all();

  bool take_changed();
  void state(StateIo& io);

 private:
  using Dumps = std::map<std::int32_t, RankDump>;
  HangFinding find(SubjectId job) const;

  std::map<SubjectId, Dumps> jobs_;
  std::map<SubjectId, Time> open_;  // not reported yet: the time of the newest dump
  bool changed_ = true;
};

}  // namespace trainwatch
