// SPDX-License-Identifier: Apache-2.0
// cpu_bottleneck in trainwatch's own preset: the share of a node's recent snapshots in which a
// working GPU is idle while a core is saturated. See docs/rules/cpu_bottleneck.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/sampling_tick.h"
#include "rules/time_slices.h"
#include "trainwatch/rule.h"

namespace trainwatch::cpu_bottleneck {

struct Params {
  double threshold = 25;
  double gpu_threshold = 10;
  double core_threshold = 90;
  double window_seconds = 120;  // 0: as SageMaker, over the whole history
  double warmup_seconds = 60;
  double recovery_seconds = 60;
  // Over the whole history:
  std::int64_t patience = 1000;
  std::int64_t recovery_snapshots = 20;
};

class RecentBottleneck final : public Rule {
 public:
  RecentBottleneck(const Params& params, const RuleContext& context)
      : params_(params),
        interner_(context.interner),
        slices_(from_seconds(params.window_seconds)) {}

  void on_sample(const Sample& sample, Verdicts& out) override;
  void state(StateIo& io) override;
  Lifecycle lifecycle() const override {
    return {.change = Lifecycle::Change::points, .min_change = kMinChange};
  }
  bool warming() const override { return !slices_.covers(from_seconds(params_.warmup_seconds)); }
  std::vector<std::string_view> missing() const override;

 private:
  static constexpr double kMinChange = 10;  // percent points of the ratio

  // Snapshots of half a second.
  struct Slice {
    Time start{};
    std::uint32_t snapshots = 0;
    std::uint32_t low_gpu = 0;
    std::uint32_t hot_core = 0;
    std::uint32_t both = 0;
    bool works = false;  // a GPU does

    void state(StateIo& io);
  };
  struct Sums {
    std::int64_t snapshots = 0;
    std::int64_t low_gpu = 0;
    std::int64_t hot_core = 0;
    std::int64_t both = 0;
  };
  // What the samples of one snapshot say.
  struct Snapshot {
    bool gpu = false;  // there was a sample
    bool core = false;
    bool low_gpu = false;
    bool works = false;
    std::vector<std::uint32_t> hot_cores;

    void clear();
    void state(StateIo& io);
  };

  void add_gpu(const Sample& sample);
  void add_core(const Sample& sample);
  void close(Verdicts& out);
  void count(const Slice& slice, std::int64_t by);
  void count_cores();
  void judge(Verdicts& out);
  bool works_throughout() const;
  double ratio() const;
  std::uint32_t busiest_core() const;
  Verdict describe() const;

  Params params_;
  const Interner& interner_;
  SamplingTick tick_;
  Snapshot now_;
  TimeSlices<Slice> slices_;
  Sums sums_;  // over the slices
  // Bottlenecks in which a core was saturated, of this and of the previous stretch of the length of
  // the window.
  std::array<std::vector<std::uint32_t>, 2> by_core_;
  Time stretch_ = kNoTime;        // when this one began
  std::vector<Time> gpu_worked_;  // by device
  ClearTime clear_;
  Time first_ = kNoTime;
  Time last_gpu_ = kNoTime;
  Time last_core_ = kNoTime;
};

}  // namespace trainwatch::cpu_bottleneck
