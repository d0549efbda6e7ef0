// SPDX-License-Identifier: Apache-2.0
// A run of eight ranks, and what its headline says of some alerts.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "pipeline/engine/headline.h"

namespace trainwatch::headline_fixture {

inline constexpr Time kBegin{std::chrono::seconds(1000)};

inline RuleSpec rule(std::string_view id, Scope scope, IncidentRole role,
                     std::string_view summary = "") {
  RuleSpec spec;
  spec.id = id;
  spec.scope = scope;
  spec.incident = role;
  spec.summary = summary;
  return spec;
}

inline const RuleSpec kInputBound = rule("input_bound", Scope::rank, {.specificity = 70});
inline const RuleSpec kRegression = rule("throughput_regression", Scope::rank, {.specificity = 65},
                                         "Training has become slower and stays so.");
inline const RuleSpec kSpike =
    rule("step_spike", Scope::rank, {.specificity = 50, .of_one_step = true});
inline const RuleSpec kStall = rule("stall", Scope::rank, {.specificity = 90, .of_one_step = true});
inline const RuleSpec kStraggler = rule("straggler", Scope::job, {.specificity = 75});
inline const RuleSpec kCpu = rule("cpu_bottleneck", Scope::node, {.specificity = 44},
                                  "GPUs are idle while a CPU core is saturated.");
inline const RuleSpec kLowGpu =
    rule("low_gpu_utilization", Scope::gpu, {.specificity = 20},
         "A GPU is never fully used, or alternates between busy and idle.");
inline const RuleSpec kCreep = rule("memory_creep", Scope::gpu, {});

class HeadlineFixture : public testing::Test {
 protected:
  HeadlineFixture() {
    run_.life.state = LifeState::slow;
    run_.life.began_at = kBegin;
    run_.life.until = now_;
    run_.gpus = true;
    run_.life.since = kBegin + std::chrono::minutes(5);
    run_.life.step = 12345;
    run_.seconds_per_step = 1 / 4.2;
    run_.rank_count = 8;
    for (std::int32_t rank = 0; rank < 8; ++rank) run_.nodes["algo-1"].insert(rank);
    run_.life.wall = 1000;
  }

  // An alert about rank 3 that has fired for 38 minutes and is as old as that.
  Alert alert(CauseName cause, double lost) {
    Alert made;
    made.id = std::to_string(++alerts_);
    made.subject = {"bert", "algo-1", 3, ""};
    made.started_at = now_ - std::chrono::minutes(38);
    made.updated_at = now_;
    made.verdict.cause.name = cause;
    made.verdict.lost_seconds = lost;
    return made;
  }
  std::string text() const { return headline(run_, with_account(), now_).text; }
  Time since() const { return headline(run_, with_account(), now_).since; }
  // The account has what the alerts say.
  RunAlerts with_account() const {
    RunAlerts alerts = given_;
    for (auto* const list : {&alerts.firing, &alerts.info, &alerts.over}) {
      for (AlertView& view : *list) view.lost = view.alert->verdict.lost_seconds;
    }
    return alerts;
  }
  void fires(const Alert& one, const RuleSpec& spec) { given_.firing.push_back({&one, &spec}); }
  void is_over(Alert& one, const RuleSpec& spec, Time at) {
    one.ended_at = at;
    given_.over.push_back({&one, &spec});
  }

  RunView run_;
  RunAlerts given_;
  Time now_ = kBegin + std::chrono::minutes(60);
  int alerts_ = 0;
};

}  // namespace trainwatch::headline_fixture
