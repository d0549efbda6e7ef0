// SPDX-License-Identifier: Apache-2.0
// SageMaker's filter for low GPU utilisation: at every moment at which a GPU is used less than a
// limit, an instant that has all system metrics of that moment in its arguments.
//
// Events pass through in order; those of the last moment wait until it is over.
#pragma once

#include <deque>
#include <string>

#include "pipeline/timeline/timeline_event.h"

namespace trainwatch {

class LowGpuFilter final : public TimelineSink {
 public:
  static constexpr double kLimitPercent = 85;
  static constexpr std::int64_t kMomentNs = 20'000'000;             // to either side
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20U;  // that wait

  // `events` come sorted by start. `marks` is the track of the instants. All outlive this.
  LowGpuFilter(const TrackTable& tracks, TrackId marks, TimelineSink& to)
      : tracks_(tracks), marks_(marks), to_(to) {}

  // The track of the instants.
  static TrackId marks_in(TrackTable& tracks);

  void event(const TimelineEvent& event) override;
  // No event follows.
  void finish();

 private:
  struct Waiting {
    TimelineEvent event;  // its text is below
    std::string name;
    std::string rest;
  };

  bool is_sample(const TimelineEvent& event) const;
  void pass_one();
  void mark(std::int64_t at_ns);

  const TrackTable& tracks_;
  TrackId marks_;
  TimelineSink& to_;
  std::deque<Waiting> waiting_;  // of the last 20 ms, or since the moment before `low_`
  std::size_t bytes_ = 0;
  bool low_ = false;  // a moment is open
  std::int64_t low_ns_ = 0;
};

}  // namespace trainwatch
