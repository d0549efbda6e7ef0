// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/attribution.h"

#include <gtest/gtest.h>

namespace trainwatch::attribution_test {

Time at(std::int64_t seconds) {
  return Time{std::chrono::seconds(seconds)};
}

class AttributionTest : public testing::Test {
 protected:
  AttributionTest() {
    rank_ = interner_.subjects.intern({"", "algo-1", 0, ""}).value();
    const SubjectId node = interner_.subjects.intern({"", "algo-1", kNoRank, ""}).value();
    for (const Resource resource :
         {Resource::cpu_utilization, Resource::cpu_io_wait, Resource::gpu_utilization,
          Resource::gpu_throttle_reasons, Resource::cpu_pressure_some, Resource::io_pressure_some,
          Resource::memory_pressure_some, Resource::cgroup_throttled}) {
      Series series;
      series.subject = node;
      series.resource = resource;
      series_[resource] = *interner_.series.intern(series);
    }
    verdict_.window_start = at(10);
    verdict_.window_end = at(12);
  }

  void sample(std::int64_t second, Resource resource, double value) {
    system_.on(Sample{at(second), value, series_[resource], resource});
  }

  void span(SpanKind kind, std::int64_t second, std::int64_t milliseconds) {
    Span made;
    made.kind = kind;
    made.subject = rank_;
    made.start = at(second);
    made.duration = std::chrono::milliseconds(milliseconds);
    spans_.on(made);
  }

  Cause explain(SubjectId subject) const {
    Verdict verdict = verdict_;
    attribution_.add_spans(verdict, subject);
    return attribution_.explain(verdict, subject);
  }

  Interner interner_;
  SubjectId rank_{};
  std::map<Resource, SeriesId> series_;
  SystemHistory system_{interner_};
  SpanHistory spans_;
  Attribution attribution_{system_, spans_};
  Verdict verdict_;
};

TEST_F(AttributionTest, SaysWhatWasMissing) {
  const Cause cause = explain(rank_);
  EXPECT_EQ(cause.name, CauseName::unattributed);
  EXPECT_EQ(cause.missing, std::vector<std::string>{"cpu samples"});
  EXPECT_FALSE(attribution_.settled(verdict_, rank_));
}

TEST_F(AttributionTest, KeepsWhatTheRuleIsSureOf) {
  verdict_.cause = {CauseName::straggler, 0.9, "late", {}};
  for (std::int64_t s = 10; s < 14; ++s) sample(s, Resource::cpu_utilization, 100);
  EXPECT_EQ(explain(rank_).name, CauseName::straggler);
}

TEST_F(AttributionTest, PressureThatRoseExplains) {
  const std::tuple<Resource, CauseName, std::string> kinds[] = {
      {Resource::cpu_pressure_some, CauseName::cpu_saturation,
       "Tasks waited for a free CPU core in 70 % of the interval."},
      {Resource::cgroup_throttled, CauseName::cpu_saturation,
       "The container had used up its CPU quota in 70 % of the interval."},
      {Resource::memory_pressure_some, CauseName::host_pause,
       "Memory was short: tasks waited for it in 70 % of the interval."},
      {Resource::io_pressure_some, CauseName::io_wait,
       "Tasks waited for disk I/O in 70 % of the interval."}};
  for (const auto& [resource, name, explanation] : kinds) {  // the more specific last
    for (std::int64_t s = 0; s < 10; ++s) sample(s, resource, 5);
    for (std::int64_t s = 10; s < 14; ++s) sample(s, resource, 70);
    const Cause cause = explain(rank_);
    EXPECT_EQ(cause.name, name);
    EXPECT_EQ(cause.explanation, explanation);
    EXPECT_DOUBLE_EQ(cause.coverage, 0.7);
  }
}

TEST_F(AttributionTest, PressureThatWasThereBeforeExplainsNothing) {
  for (std::int64_t s = 0; s < 14; ++s) sample(s, Resource::io_pressure_some, 70);
  EXPECT_EQ(explain(rank_).name, CauseName::unattributed);
}

TEST_F(AttributionTest, AUsedUpQuotaExplainsLongerComputation) {
  verdict_.cause = {CauseName::compute_growth, 0.9, "longer", {}};
  for (std::int64_t s = 10; s < 14; ++s) sample(s, Resource::cgroup_throttled, 80);
  EXPECT_EQ(explain(rank_).name, CauseName::cpu_saturation);
}

TEST_F(AttributionTest, CoresThatBecameBusyExplainLongerComputation) {
  verdict_.cause = {CauseName::compute_growth, 0.9, "longer", {}};
  for (std::int64_t s = 0; s < 10; ++s) sample(s, Resource::cpu_utilization, 55);
  for (std::int64_t s = 10; s < 14; ++s) sample(s, Resource::cpu_utilization, 70);
  EXPECT_EQ(explain(rank_).name, CauseName::compute_growth);
  for (std::int64_t s = 10; s < 14; ++s) {
    for (int more = 0; more < 9; ++more) sample(s, Resource::cpu_utilization, 100);
  }
  EXPECT_EQ(explain(rank_).name, CauseName::cpu_saturation);
}

TEST_F(AttributionTest, AClockThatWasHeldBackExplainsLongerComputation) {
  for (std::int64_t s = 0; s < 14; ++s) sample(s, Resource::gpu_throttle_reasons, s >= 10 ? 32 : 0);
  EXPECT_EQ(explain(rank_).name, CauseName::gpu_slowdown);
  verdict_.cause = {CauseName::compute_growth, 0.9, "longer", {}};
  EXPECT_EQ(explain(rank_).name, CauseName::gpu_slowdown);
  verdict_.cause = {CauseName::input_wait, 0.9, "waited", {}};
  EXPECT_EQ(explain(rank_).name, CauseName::input_wait);
}

TEST_F(AttributionTest, APowerCapAsEverExplainsNothing) {
  for (std::int64_t s = 0; s < 14; ++s) sample(s, Resource::gpu_throttle_reasons, 4);
  EXPECT_EQ(explain(rank_).name, CauseName::unattributed);
}

TEST_F(AttributionTest, AsksWhyTrainingWaitedForItsData) {
  verdict_.cause = {CauseName::input_wait, 0.9, "waited", {}};
  for (std::int64_t s = 0; s < 14; ++s) {
    sample(s, Resource::cpu_utilization, 20);
    sample(s, Resource::cpu_io_wait, s >= 10 ? 80 : 1);
  }
  EXPECT_EQ(explain(rank_).name, CauseName::io_wait);
}

TEST_F(AttributionTest, KeepsTheWaitWhereNothingSaysWhy) {
  verdict_.cause = {CauseName::input_wait, 0.9, "waited", {}};
  for (std::int64_t s = 0; s < 14; ++s) sample(s, Resource::cpu_utilization, 20);
  EXPECT_EQ(explain(rank_).name, CauseName::input_wait);
}

TEST_F(AttributionTest, FindsASaturatedCore) {
  for (std::int64_t s = 0; s < 14; ++s) {
    sample(s, Resource::cpu_utilization, 20);
    if (s >= 10) sample(s, Resource::cpu_utilization, 97);
  }
  const Cause cause = explain(rank_);
  EXPECT_EQ(cause.name, CauseName::cpu_saturation);
  EXPECT_NEAR(cause.coverage, 0.97, 1e-6);
  EXPECT_TRUE(attribution_.settled(verdict_, rank_));
}

TEST_F(AttributionTest, FindsIoWaitBeforeCpu) {
  for (std::int64_t s = 0; s < 14; ++s) {
    sample(s, Resource::cpu_utilization, s >= 10 ? 97 : 20);
    sample(s, Resource::cpu_io_wait, s >= 10 ? 80 : 1);
  }
  EXPECT_EQ(explain(rank_).name, CauseName::io_wait);
}

TEST_F(AttributionTest, OneCoreThatIsAlwaysBusyExplainsNothing) {
  for (std::int64_t s = 0; s < 14; ++s) {
    for (const double busy : {99, 10, 10, 10}) sample(s, Resource::cpu_utilization, busy);
  }
  EXPECT_EQ(explain(rank_).name, CauseName::unattributed);
}

TEST_F(AttributionTest, AHostThatIsAlwaysFullExplainsNothing) {
  for (std::int64_t s = 0; s < 14; ++s) sample(s, Resource::cpu_utilization, 99);
  EXPECT_EQ(explain(rank_).name, CauseName::unattributed);
}

TEST_F(AttributionTest, FindsAGarbageCollectionAndACompilation) {
  for (const auto& [kind, name] :
       {std::pair{SpanKind::compilation, CauseName::recompilation},
        std::pair{SpanKind::garbage_collection, CauseName::garbage_collection}}) {
    span(kind, 10, 1800);
    EXPECT_EQ(explain(rank_).name, name);
  }
}

TEST_F(AttributionTest, ACompilationInAPhaseExplainsWhyItGrew) {
  span(SpanKind::compilation, 10, 1800);
  verdict_.cause = {CauseName::compute_growth, 1.0, {}, {}};
  EXPECT_EQ(explain(rank_).name, CauseName::recompilation);
}

TEST_F(AttributionTest, TimeOutsideThePhasesOfAStepIsTheHosts) {
  for (std::int64_t second = 0; second < 12; ++second) {
    for (const SpanKind kind : {SpanKind::forward, SpanKind::backward}) {
      span(kind, second, 100);
    }
  }
  verdict_.window_lost_seconds = 1.5;
  const Cause cause = explain(rank_);
  EXPECT_EQ(cause.name, CauseName::host_pause);
  EXPECT_GE(cause.coverage, 0.8);
  verdict_.provisional = true;
  EXPECT_EQ(explain(rank_).name, CauseName::unattributed)
      << "it still stands, and a phase is written when it ends";
}

TEST_F(AttributionTest, WhatThePhasesSaidIsKnownAfterTheyAreForgotten) {
  const auto steps = [this](std::int64_t from, std::int64_t to) {
    for (std::int64_t second = from; second < to; ++second) {
      span(SpanKind::forward, second, 100);
      span(SpanKind::backward, second, 100);
    }
  };
  steps(0, 12);
  attribution_.add_spans(verdict_, rank_);
  const Cause cause = attribution_.explain(verdict_, rank_);
  EXPECT_EQ(cause.name, CauseName::host_pause);
  steps(12, 200);
  EXPECT_EQ(attribution_.explain(verdict_, rank_), cause);
}

TEST_F(AttributionTest, WhereOnlyTheForwardPassIsKnownTheRestIsNotTheHosts) {
  for (std::int64_t second = 0; second < 12; ++second) {
    span(SpanKind::forward, second, 100);
  }
  verdict_.window_lost_seconds = 1.5;
  EXPECT_EQ(explain(rank_).name, CauseName::unattributed);
}

TEST_F(AttributionTest, FindsACheckpoint) {
  span(SpanKind::checkpoint, 10, 1500);
  const Cause cause = explain(rank_);
  EXPECT_EQ(cause.name, CauseName::checkpoint);
  EXPECT_DOUBLE_EQ(cause.coverage, 0.75);
}

TEST_F(AttributionTest, AnotherNodeExplainsNothing) {
  const SubjectId other = interner_.subjects.intern({"", "algo-2", 1, ""}).value();
  for (std::int64_t s = 9; s < 14; ++s) sample(s, Resource::cpu_utilization, 100);
  EXPECT_EQ(explain(other).name, CauseName::unattributed);
}

}  // namespace trainwatch::attribution_test
