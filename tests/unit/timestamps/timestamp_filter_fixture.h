// SPDX-License-Identifier: Apache-2.0
// A timestamp filter with one lane, fed event by event, and events to feed it with.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/timestamps/event_time.h"
#include "pipeline/timestamps/timestamp_filter.h"

namespace trainwatch::test {

inline constexpr std::int64_t kBase = 1700000000;  // seconds; where a job begins
inline constexpr LaneId kLane{1};

inline Time at_second(double second) {
  return Time{std::chrono::seconds(kBase)} + Nanos{static_cast<std::int64_t>(second * 1e9)};
}

class FilterTest : public testing::Test {
 protected:
  FilterTest() {
    const SubjectId node = interner_.subjects.intern({"", "algo-1", kNoRank, ""}).value();
    for (const char* cpu : {"cpu0", "cpu1", "cpu2"}) {
      Series series;
      series.subject = node;
      series.resource = Resource::cpu_utilization;
      series.name = interner_.symbols.intern(cpu);
      series.dimension = interner_.symbols.intern("CPUUtilization");
      interner_.series.intern(series);
    }
    rank_ = interner_.subjects.intern({"", "algo-1", 0, ""}).value();
    step_name_ = interner_.symbols.intern("Step:ModeKeys.TRAIN");
  }

  // Seconds count from kBase, for all of these.
  static Sample sample(double second, double value = 50, std::uint32_t series = 0) {
    return {at_second(second), value, SeriesId{series}, Resource::cpu_utilization};
  }
  Span span(double second, double seconds, SpanKind kind = SpanKind::forward) const {
    Span made;
    made.start = at_second(second);
    made.duration = Nanos{static_cast<std::int64_t>(seconds * 1e9)};
    made.subject = rank_;
    made.name = step_name_;
    made.kind = kind;
    return made;
  }
  Span step(double second, double seconds, std::int64_t number) const {
    Span made = span(second, seconds, SpanKind::step);
    made.step = number;
    made.mode = Mode::train;
    return made;
  }

  // As after a start of the daemon; what passed stays.
  void restart() { filter_.emplace(options_); }

  void feed(const Event& event) {
    EventBatch batch{event};
    filter_->filter(kLane, batch, rejected_events_);
    passed_.insert(passed_.end(), batch.begin(), batch.end());
  }
  // A sample each second.
  void feed_seconds(int from, int to) {
    for (int second = from; second < to; ++second) feed(sample(second, second));
  }
  void end_of_file() { filter_->end_of_file(kLane, passed_, rejected_events_); }
  void end_of_input() { filter_->end_of_input(kLane, passed_, rejected_events_); }

  std::string text(const Event& event) const { return event_text(event, interner_); }
  std::vector<std::string> texts(const EventBatch& events) const {
    std::vector<std::string> lines;
    for (const Event& event : events) lines.push_back(text(event));
    return lines;
  }
  // When what passed began, in seconds.
  std::vector<double> passed() const {
    std::vector<double> seconds;
    for (const Event& event : passed_) {
      seconds.push_back(to_seconds(time_of(event)->start - at_second(0)));
    }
    return seconds;
  }
  std::map<RejectReason, int> refusals() const {
    std::map<RejectReason, int> counts;
    for (const RejectedEvent& rejected : rejected_events_) ++counts[rejected.reason];
    return counts;
  }

  Interner interner_;
  SubjectId rank_{};
  Symbol step_name_{};
  TimestampFilterOptions options_;
  std::optional<TimestampFilter> filter_{std::in_place, options_};
  EventBatch passed_;
  std::vector<RejectedEvent> rejected_events_;
};

// 0, 1, 2, … as doubles, up to and without `to`.
inline std::vector<double> seconds(int from, int to) {
  std::vector<double> all;
  for (int second = from; second < to; ++second) all.push_back(second);
  return all;
}

}  // namespace trainwatch::test
