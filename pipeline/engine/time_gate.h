// Stands between the decoders and the engine: only events with a believable time come through,
// each record once, the samples of a lane in order. Rules may then trust event time.
//
// One lane knows nothing of another, and there is no clock here: what passes is a function of the
// lane's events, and of where its files end. How one lane is judged stands in lane_gate.h.
//
// State per lane: about 1 KiB, 4 KiB more where there are samples, and at most SampleOrder's and
// Suspects' bounds while something is wrong. The tailer bounds the lanes: one per writer, and one
// per file that belongs to none.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "pipeline/engine/lane_gate.h"
#include "pipeline/engine/time_gate_options.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

class TimeGate {
 public:
  // The vocabulary is that of the events; it outlives the gate.
  TimeGate(const Vocabulary& vocabulary, TimeGateOptions options);

  // Turns the next events of a lane into those that pass now. Appends to `refused`.
  void filter(LaneId lane, EventBatch& batch, std::vector<Refused>& refused);

  // All that stands in a file of the lane went through filter(). Appends to both.
  void end_of_file(LaneId lane, EventBatch& passed, std::vector<Refused>& refused);
  // Nothing more comes in this lane: what is held passes or is refused. Appends to both.
  void end_of_input(LaneId lane, EventBatch& passed, std::vector<Refused>& refused);

  // A file of the lane was rewritten and is read from its beginning again.
  void again(LaneId lane);

  // Saves or loads one lane. After a load that fails the lane is as new.
  void lane_state(LaneId lane, StateIo& io);

  // The lanes whose state is another than at the last call.
  std::vector<LaneId> take_changed_lanes();

 private:
  LaneGate& changed(LaneId lane);

  const Vocabulary& vocabulary_;
  TimeGateOptions options_;
  std::map<LaneId, LaneGate> lanes_;
  std::set<LaneId> changed_;
  EventBatch rest_;  // reused
};

}  // namespace trainwatch
