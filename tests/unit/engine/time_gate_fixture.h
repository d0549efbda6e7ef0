// A time gate with one lane, fed event by event, and events to feed it with.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/engine/event_text.h"
#include "pipeline/engine/time_gate.h"

namespace trainwatch::test {

inline constexpr std::int64_t kBase = 1700000000;  // seconds; where a job begins
inline constexpr LaneId kLane{1};

inline Time at_second(double second) {
  return Time{std::chrono::seconds(kBase)} + Nanos{static_cast<std::int64_t>(second * 1e9)};
}

class GateTest : public testing::Test {
 protected:
  GateTest() {
    const SubjectId node = vocabulary_.subjects.intern({"", "algo-1", kNoRank, ""});
    for (const char* cpu : {"cpu0", "cpu1", "cpu2"}) {
      Series series;
      series.subject = node;
      series.resource = Resource::cpu_utilization;
      series.name = vocabulary_.symbols.intern(cpu);
      series.dimension = vocabulary_.symbols.intern("CPUUtilization");
      vocabulary_.series.add(series);
    }
    rank_ = vocabulary_.subjects.intern({"", "algo-1", 0, ""});
    step_name_ = vocabulary_.symbols.intern("Step:ModeKeys.TRAIN");
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
  void new_gate() { gate_.emplace(vocabulary_, options_); }

  void feed(const Event& event) {
    EventBatch batch{event};
    gate_->filter(kLane, batch, refused_);
    passed_.insert(passed_.end(), batch.begin(), batch.end());
  }
  // A sample each second.
  void feed_seconds(int from, int to) {
    for (int second = from; second < to; ++second) feed(sample(second, second));
  }
  void end_of_file() { gate_->end_of_file(kLane, passed_, refused_); }
  void end_of_input() { gate_->end_of_input(kLane, passed_, refused_); }

  std::string text(const Event& event) const { return event_text(event, vocabulary_); }
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
    for (const Refused& refused : refused_) ++counts[refused.reason];
    return counts;
  }

  Vocabulary vocabulary_;
  SubjectId rank_{};
  Symbol step_name_{};
  TimeGateOptions options_;
  std::optional<TimeGate> gate_{std::in_place, vocabulary_, options_};
  EventBatch passed_;
  std::vector<Refused> refused_;
};

// 0, 1, 2, … as doubles, up to and without `to`.
inline std::vector<double> seconds(int from, int to) {
  std::vector<double> all;
  for (int second = from; second < to; ++second) all.push_back(second);
  return all;
}

}  // namespace trainwatch::test
