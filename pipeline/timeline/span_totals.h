// SPDX-License-Identifier: Apache-2.0
// What ran in a span of time: the spans of a timeline by name, phase and rank, with the time that
// they spent inside the span.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "pipeline/timeline/timeline_event.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/subject.h"

namespace trainwatch {

class SpanTotals final : public TimelineSink {
 public:
  static constexpr std::size_t kMostKept = 20'000;  // names; further ones are counted
  static constexpr std::size_t kMostShown = 500;

  // `tracks` outlives this.
  SpanTotals(const TrackTable& tracks, TimeWindow window) : tracks_(tracks), window_(window) {}

  // The events that follow are those of this rank.
  void begin(std::int32_t rank) { rank_ = rank; }
  void event(const TimelineEvent& event) override;

  // {"columns":[…],"rows":[…],"left_out":n}: the largest total first; times in microseconds.
  std::string json() const;

 private:
  using Key = std::tuple<std::string, std::string, std::int32_t>;  // name as JSON, phase, rank
  struct Total {
    std::uint64_t count = 0;
    std::int64_t inside_ns = 0;
    std::int64_t first_ns = 0;
  };

  const TrackTable& tracks_;
  TimeWindow window_;
  std::int32_t rank_ = kNoRank;
  std::map<Key, Total> totals_;
  Key key_;  // reused
  std::uint64_t left_out_ = 0;
};

}  // namespace trainwatch
