// SPDX-License-Identifier: Apache-2.0
// low_gpu_utilization in trainwatch's own preset: a GPU that works, but little, or that alternates
// between busy and idle, in the recent past. See docs/rules/low_gpu_utilization.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/low_gpu_params.h"
#include "rules/time_slices.h"
#include "trainwatch/rule.h"

namespace trainwatch::low_gpu_utilization {

class RecentLowGpu final : public Rule {
 public:
  RecentLowGpu(const Params& params, const RuleContext&)
      : params_(params), slices_(from_seconds(params.window_seconds)) {}

  void on_sample(const Sample& sample, Verdicts& out) override;
  void state(StateIo& io) override;
  Lifecycle lifecycle() const override {
    return {.change = Lifecycle::Change::points, .min_change = kMinChange, .one_at_a_time = true};
  }
  bool warming() const override { return !slices_.covers(from_seconds(params_.warmup_seconds)); }
  std::vector<std::string_view> missing() const override;

 private:
  static constexpr double kMinChange = 10;  // percent points of the mean
  static constexpr std::size_t kAlternations = 3;
  static constexpr Nanos kGone = std::chrono::seconds(60);

  struct Slice {
    Time start{};
    double sum = 0;
    std::uint64_t samples = 0;

    double mean() const { return sum / static_cast<double>(samples); }
    void state(StateIo& io);
  };

  void add(const Sample& sample);
  void count(const Slice& slice, std::int64_t by);
  void follow_idle_periods(const Slice& slice);
  void judge(Time at, Verdicts& out);
  bool works_throughout() const;
  bool alternates() const;
  Nanos turn() const;
  bool stays_open(const Verdicts& out) const;
  std::int64_t longest_idle() const;
  Reason reason() const;
  double mean() const;
  Verdict describe(Reason reason) const;

  Params params_;
  TimeSlices<Slice> slices_;
  std::int64_t idle_ = 0;  // slices below threshold_p5
  std::int64_t low_ = 0;   // slices below threshold_p95
  // When the last periods without work ended, the latest first.
  std::array<Time, kAlternations> resumed_{kNoTime, kNoTime, kNoTime};
  bool in_idle_period_ = false;
  ClearTime clear_;
  Time last_ = kNoTime;        // of a sample
  Time last_value_ = kNoTime;  // of a sample that is a number
};

}  // namespace trainwatch::low_gpu_utilization
