// Decides for one lane which of its events have a believable time, and lets these through.
//
// Where the lane stands is the greatest time accepted. An event is ahead when it starts more than
// `max_ahead` after that, late when it ends more than `lateness` before that. Such an event is held
// as a suspect (see Suspects) and the lane stays where it is. An event that fits rejects all
// suspects; `agree` suspects that agree with each other are believed, and the lane goes on there.
//
// A lane of which nothing is known yet has nothing to compare with, so its first event waits for
// one that agrees with it: a wrong first time never gets through, and an alert is late by at most
// one event, once. At the end of a file nothing better will come soon: the largest group of two or
// more is believed there, and a single event when the file had no other to contradict it.
#pragma once

#include "pipeline/engine/event_time.h"
#include "pipeline/engine/recent_events.h"
#include "pipeline/engine/sample_order.h"
#include "pipeline/engine/suspects.h"
#include "pipeline/engine/time_gate_options.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

// An event that is thrown away: ts_future, ts_past or duplicate.
struct Refused {
  Event event;
  RejectReason reason{};
};

// Where the events of a batch go; both lists are appended to.
struct GateOutput {
  EventBatch& passed;
  std::vector<Refused>& refused;
};

class LaneGate {
 public:
  explicit LaneGate(const TimeGateOptions& options) : options_(options), order_(options) {}

  // True when the event is in order and may pass at once; it then counts as passed. Otherwise
  // nothing has happened, and take() must have it.
  bool passes_at_once(const Event& event);

  // Lets the event through, holds or refuses it, and with it those that waited for it.
  void take(const Event& event, GateOutput out);

  // What stands in a file is complete.
  void end_of_file(GateOutput out);
  // Nothing more will come: nothing is held after this.
  void end_of_input(GateOutput out);

  // The content of the file was replaced: what is not after the lane's newest event was read
  // before, until an event comes that is.
  void again() { again_ = anchored_; }

  // A load that fails leaves a lane of which nothing is known.
  void state(StateIo& io, const Vocabulary& vocabulary);

 private:
  bool is_ahead(EventTime time) const { return time.start - newest_end_ > options_.max_ahead; }
  bool is_late(EventTime time) const { return newest_start_ - time.end > options_.lateness; }
  bool is_new(const Event& event);
  void accept(const Event& event, EventTime time, GateOutput out);
  void move_to(EventTime time);
  void suspect(const Event& event, EventTime time, GateOutput out);
  void believe_largest(GateOutput out);
  void refuse_suspects(const EventBatch& events, GateOutput out) const;
  bool plausible() const;

  TimeGateOptions options_;
  // Two sides of where the lane stands. Files are written in order of start or in order of end; in
  // both orders no span ends before the greatest start, and none begins long after the greatest
  // end, so a long span is not late and explains the jump that follows it.
  Time newest_start_{};
  Time newest_end_{};
  bool anchored_ = false;  // the two above are known
  bool again_ = false;
  bool fitting_in_file_ = false;  // some event of the present file fitted
  SampleOrder order_;
  RecentSamples recent_samples_;
  RecentSpans recent_spans_;
  Suspects suspects_;
};

}  // namespace trainwatch
