// SPDX-License-Identifier: Apache-2.0
// low_gpu_utilization in the presets of SageMaker: SageMaker's LowGPUUtilization, which counts
// samples. See docs/rules/low_gpu_utilization.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "rules/low_gpu_params.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch::low_gpu_utilization {

class LowGpuBySamples final : public Rule {
 public:
  LowGpuBySamples(const Params& params, const RuleContext&)
      : params_(params), recent_(static_cast<std::size_t>(params.window)) {}

  void on_sample(const Sample& sample, Verdicts& out) override;
  void state(StateIo& io) override {
    io(recent_);
    io(seen_);
  }
  Lifecycle lifecycle() const override {
    return {.recover_after = params_.recovery_samples,
            .change = Lifecycle::Change::points,
            .min_change = kMinChange,
            .one_at_a_time = true};
  }
  bool warming() const override { return seen_ <= static_cast<std::uint64_t>(params_.patience); }

 private:
  static constexpr double kMinChange = 5;  // percent points

  double p95() const { return recent_.quantile(0.95); }
  double p5() const { return recent_.quantile(0.05); }
  Reason reason() const;
  double value(Reason reason) const { return reason == Reason::fluctuating ? p5() : p95(); }
  std::string summary(Reason reason) const;
  Verdict describe(Reason reason, std::uint64_t held) const;

  Params params_;
  SortedWindow recent_;
  std::uint64_t seen_ = 0;
};

}  // namespace trainwatch::low_gpu_utilization
