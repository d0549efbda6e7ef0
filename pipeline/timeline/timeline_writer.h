// SPDX-License-Identifier: Apache-2.0
// Writes a merged timeline as one document of Chrome's format, event by event. What a process or a
// thread is called stands before its first event.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/timeline/timeline_event.h"
#include "pipeline/timeline/trace_copy.h"

namespace trainwatch {

class TimelineWriter final : public TimelineSink {
 public:
  // `tracks` is numbered. Both outlive this.
  TimelineWriter(const TrackTable& tracks, TraceWriter& writer)
      : tracks_(tracks),
        writer_(writer),
        named_(tracks.processes(), false),
        thread_ids_(tracks.tracks(), 0) {}

  void event(const TimelineEvent& event) override;

 private:
  void name(TrackId track);

  const TrackTable& tracks_;
  TraceWriter& writer_;
  std::vector<bool> named_;               // by process
  std::vector<std::int64_t> thread_ids_;  // by track; 0: not shown yet
  std::int64_t threads_ = 0;
  std::string text_;  // reused
};

}  // namespace trainwatch
