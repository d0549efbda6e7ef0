// SPDX-License-Identifier: Apache-2.0
// Sits between the decoders and the engine, and lets pass only events with a plausible time, each
// record once, and the samples of a lane in order. Rules can then trust event time.
//
// Lanes are independent, and there is no clock here: the output depends only on the events of the
// lane and on where its files end.
//
// State per lane: about 1 KiB, 4 KiB more if it has samples, and up to the limits of ReorderBuffer
// and Quarantine while something is wrong. The tailer bounds the number of lanes: one per writer,
// and one per file that belongs to none.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "pipeline/timestamps/duplicate_cache.h"
#include "pipeline/timestamps/event_time.h"
#include "pipeline/timestamps/quarantine.h"
#include "pipeline/timestamps/reorder_buffer.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

// An event that is dropped: ts_future, ts_past or duplicate.
struct RejectedEvent {
  Event event;
  RejectReason reason{};
};

// The output of a batch. Both lists are appended to.
struct FilterOutput {
  EventBatch& passed;
  std::vector<RejectedEvent>& rejected;
};

// Decides for one lane which of its events have a plausible time.
//
// The position of the lane is the latest time accepted. An event is ahead if it starts more than
// `max_ahead` after the position, and late if it ends more than `lateness` before it. Such an event
// goes into quarantine, and the position stays. An event that fits rejects everything in
// quarantine; `agree` quarantined events that agree with each other are accepted and move the
// position.
//
// A new lane has nothing to compare with, so its first event waits for one that agrees with it: a
// wrong first time never passes, and one alert may be late by one event. At the end of a file no
// better evidence is expected soon: the largest group of two or more is accepted, and a single
// event if nothing in the file contradicted it.
class LaneFilter {
 public:
  explicit LaneFilter(const TimestampFilterOptions& options) : options_(options), order_(options) {}

  // True if the event is in order and passes at once. Otherwise nothing has changed, and the event
  // must be passed to take().
  bool passes_at_once(const Event& event);

  // Passes, quarantines or rejects the event, along with those that waited for it.
  void take(const Event& event, FilterOutput out);

  // All events of a file were taken.
  void end_of_file(FilterOutput out);
  // There will be no more events. Nothing is held afterwards.
  void end_of_input(FilterOutput out);

  // The file is read from its beginning again: events up to the newest of the lane are duplicates,
  // whatever they hold now, until a newer one comes.
  void reread() { rereading_ = anchored_; }

  // Everything but the recent samples, which are stored as they come.
  void state(StateIo& io);
  RecentSamples& recent_samples() { return recent_samples_; }

 private:
  bool is_ahead(EventTime time) const { return time.start - newest_end_ > options_.max_ahead; }
  bool is_late(EventTime time) const { return newest_start_ - time.end > options_.lateness; }
  // A span that began long before the newest event was not written behind that: it was edited.
  bool is_newer(EventTime time) const {
    return time.end > newest_end_ && newest_start_ - time.start <= options_.lateness;
  }
  bool is_new(const Event& event);
  void accept(const Event& event, EventTime time, FilterOutput out);
  void move_to(EventTime time);
  void quarantine(const Event& event, EventTime time, FilterOutput out);
  void accept_largest(FilterOutput out);
  void reject_quarantined(const EventBatch& events, FilterOutput out) const;
  bool plausible() const;

  TimestampFilterOptions options_;
  // The position, from two sides. Files are written in order of start or of end; in both orders no
  // span ends before the latest start, and none begins long after the latest end, so a long span is
  // not late and explains the jump that follows it.
  Time newest_start_{};
  Time newest_end_{};
  bool anchored_ = false;  // the position is known
  bool rereading_ = false;
  bool fitting_in_file_ = false;  // an event of the current file fitted
  ReorderBuffer order_;
  RecentSamples recent_samples_;
  RecentSpans recent_spans_;
  Quarantine quarantine_;
};

class TimestampFilter {
 public:
  explicit TimestampFilter(TimestampFilterOptions options);

  // Reduces the next events of a lane to those that pass now. Appends to `rejected`.
  void filter(LaneId lane, EventBatch& batch, std::vector<RejectedEvent>& rejected);

  // All events of a file of the lane went through filter(). Appends to both.
  void end_of_file(LaneId lane, EventBatch& passed, std::vector<RejectedEvent>& rejected);
  // The lane ended: held events pass or are rejected. Appends to both.
  void end_of_input(LaneId lane, EventBatch& passed, std::vector<RejectedEvent>& rejected);

  // A file of the lane was rewritten and is read from its beginning again.
  void reread(LaneId lane);

  // Nothing of this lane comes any more; another may get its number.
  void forget(LaneId lane);

  // Puts the lanes that changed since the last call; `all`: every lane.
  void save(StateRows& rows, bool all);
  // Only for a new filter, which must not be used if this fails.
  bool load(const SavedState& saved);

 private:
  LaneFilter& changed(LaneId lane);

  TimestampFilterOptions options_;
  std::map<LaneId, LaneFilter> lanes_;
  std::set<LaneId> changed_;
  std::map<LaneId, std::uint32_t> forgotten_;  // number of sample rows to remove
  EventBatch rest_;                            // reused
};

}  // namespace trainwatch
