#include "pipeline/analysis/core/step_tracker.h"

#include <gtest/gtest.h>

namespace trainwatch::step_tracker_test {

Span span(SpanKind kind, std::int64_t start_ms, std::int64_t duration_ms, std::int64_t step = 1) {
  Span made;
  made.kind = kind;
  made.start = Time{std::chrono::milliseconds(start_ms)};
  made.duration = std::chrono::milliseconds(duration_ms);
  made.step = step;
  made.mode = Mode::train;
  return made;
}

TEST(StepTracker, AddsTheWaitsInsideAStep) {
  StepTracker tracker;
  EXPECT_FALSE(tracker.on(span(SpanKind::data_wait, 0, 30)));
  EXPECT_FALSE(tracker.on(span(SpanKind::forward, 30, 40)));
  EXPECT_FALSE(tracker.on(span(SpanKind::data_wait, 90, 30)));
  const auto step = tracker.on(span(SpanKind::step, 0, 100, 7));
  ASSERT_TRUE(step);
  EXPECT_EQ(step->number, 7);
  EXPECT_EQ(step->mode, Mode::train);
  EXPECT_EQ(step->data_wait, std::chrono::milliseconds(40)) << "30 inside, 10 of the second";
}

TEST(StepTracker, OverlappingWaitsNeverExceedTheStep) {
  StepTracker tracker;
  for (int i = 0; i < 100; ++i) tracker.on(span(SpanKind::data_wait, 0, 100));
  EXPECT_EQ(tracker.on(span(SpanKind::step, 0, 100))->data_wait, std::chrono::milliseconds(100));
}

TEST(StepTracker, OriginsAndSubjectsAreSeparate) {
  StepTracker tracker;
  Span wait = span(SpanKind::data_wait, 0, 50);
  wait.origin = Origin::profiler;
  tracker.on(wait);
  EXPECT_EQ(tracker.on(span(SpanKind::step, 0, 100))->data_wait, Nanos{});
}

TEST(StepTracker, StateSurvives) {
  StepTracker tracker;
  tracker.on(span(SpanKind::data_wait, 0, 30));
  StateIo saving = StateIo::saving();
  tracker.state(saving);
  const std::string bytes = saving.take();
  StepTracker restored;
  StateIo loading = StateIo::loading(bytes);
  restored.state(loading);
  ASSERT_TRUE(loading.complete());
  EXPECT_EQ(restored.on(span(SpanKind::step, 0, 100))->data_wait, std::chrono::milliseconds(30));
}

}  // namespace trainwatch::step_tracker_test
