#include "pipeline/engine/time_gate.h"

#include <cassert>

namespace trainwatch {

TimeGate::TimeGate(const Vocabulary& vocabulary, TimeGateOptions options)
    : vocabulary_(vocabulary), options_(options) {
  assert(options.agree > 0 && options.agree * Suspects::kMaxGroups <= Suspects::kMaxEvents);
}

LaneGate& TimeGate::changed(LaneId lane) {
  changed_.insert(lane);
  return lanes_.try_emplace(lane, options_).first->second;
}

void TimeGate::filter(LaneId lane, EventBatch& batch, std::vector<Refused>& refused) {
  LaneGate& gate = changed(lane);
  std::size_t passed = 0;
  while (passed < batch.size() && gate.passes_at_once(batch[passed])) ++passed;
  if (passed == batch.size()) return;
  rest_.assign(batch.begin() + static_cast<std::ptrdiff_t>(passed), batch.end());
  batch.resize(passed);
  for (const Event& event : rest_) {
    if (gate.passes_at_once(event)) {
      batch.push_back(event);
    } else {
      gate.take(event, {batch, refused});
    }
  }
}

void TimeGate::end_of_file(LaneId lane, EventBatch& passed, std::vector<Refused>& refused) {
  changed(lane).end_of_file({passed, refused});
}

void TimeGate::end_of_input(LaneId lane, EventBatch& passed, std::vector<Refused>& refused) {
  changed(lane).end_of_input({passed, refused});
}

void TimeGate::again(LaneId lane) {
  changed(lane).again();
}

void TimeGate::lane_state(LaneId lane, StateIo& io) {
  lanes_.try_emplace(lane, options_).first->second.state(io, vocabulary_);
}

std::vector<LaneId> TimeGate::take_changed_lanes() {
  std::vector<LaneId> lanes(changed_.begin(), changed_.end());
  changed_.clear();
  return lanes;
}

}  // namespace trainwatch
