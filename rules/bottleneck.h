// SPDX-License-Identifier: Apache-2.0
// What SageMaker's CPUBottleneck and IOBottleneck share: the share of a node's snapshots in which a
// GPU is idle while a core is above a limit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/sampling_tick.h"
#include "trainwatch/rule.h"

namespace trainwatch {

struct BottleneckParams {
  double threshold = 50;
  double gpu_threshold = 10;
  double core_threshold = 90;
  std::int64_t patience = 1000;
  std::int64_t recovery_snapshots = 20;
};

// The property of a core that is compared, and the words for it.
struct BottleneckKind {
  CauseName cause{};
  std::string_view count_field;  // evidence: snapshots with a core above the limit
  std::string_view above;        // "while a CPU core was above 90 %"
  std::string_view explained;    // "In 100 % of the samples with an idle GPU ..."
  std::string_view next;
};

class Bottleneck : public Rule {
 public:
  Bottleneck(const BottleneckKind& kind, const BottleneckParams& params, const RuleContext& context)
      : kind_(kind), params_(params), interner_(context.interner) {}

  void on_sample(const Sample& sample, Verdicts& out) override;
  void state(StateIo& io) override;
  bool warming() const override { return !patient(); }
  Lifecycle lifecycle() const override {
    return {.recover_after = params_.recovery_snapshots,
            .change = Lifecycle::Change::points,
            .min_change = kMinChange};
  }

 private:
  static constexpr double kMinChange = 5;  // percent points of the ratio

  struct Core {
    std::uint32_t number = 0;
    std::uint64_t snapshots = 0;
  };

  void add(const Sample& sample);
  void close(Verdicts& out);
  void judge(Verdicts& out);
  bool patient() const { return datapoints_ > static_cast<std::uint64_t>(params_.patience); }
  double ratio() const {
    return 100 * static_cast<double>(bottlenecks_) / static_cast<double>(datapoints_);
  }
  std::vector<Core> busiest() const;
  std::string evidence(const std::vector<Core>& cores) const;
  Verdict describe() const;

  const BottleneckKind& kind_;
  BottleneckParams params_;
  const Interner& interner_;
  SamplingTick tick_;
  bool low_gpu_ = false;                  // in this snapshot
  std::vector<std::uint32_t> hot_cores_;  // in this snapshot
  std::uint64_t datapoints_ = 0;          // snapshots closed so far
  std::uint64_t low_gpu_snapshots_ = 0;
  std::uint64_t hot_core_snapshots_ = 0;
  std::uint64_t bottlenecks_ = 0;
  std::vector<std::uint64_t> by_core_;  // bottlenecks in which the core was above the limit
};

}  // namespace trainwatch
