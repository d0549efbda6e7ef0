// SPDX-License-Identifier: Apache-2.0
// A GPU that had nothing to do for much of a profiler cycle; see docs/rules/gpu_idle.md.
#include <algorithm>
#include <array>
#include <string>

#include "rules/cycle_rule.h"
#include "rules/format.h"

namespace trainwatch::gpu_idle {
namespace {

struct Params {
  double info_percent = 20;
  double warning_percent = 6;
};

constexpr double kAllReasons = 2;  // times warning_percent, if no single reason accounts for it
constexpr std::uint64_t kLaunchedShare = 2;  // half of the activities must have a launch
constexpr std::array kLost = {IdleReason::data_wait, IdleReason::host_pause,
                              IdleReason::synchronization, IdleReason::launch};
constexpr std::array kAll = {IdleReason::data_wait, IdleReason::host_pause,
                             IdleReason::synchronization, IdleReason::launch, IdleReason::queued};

// Of the steps of a cycle, in percent of their time.
struct Shares {
  std::int64_t idle_ns = 0;
  std::int64_t lost_ns = 0;  // because the host had launched nothing
  double idle = 0;
  double lost = 0;
  double largest = 0;  // by one reason

  explicit Shares(const CycleSummary& cycle) {
    const auto whole_ns = static_cast<double>(cycle.step_ns());
    for (std::size_t i = 0; i < kIdleReasons; ++i)
      idle_ns += cycle.idle(static_cast<IdleReason>(i));
    // Without launches it is not known what was queued.
    const bool launches_known = cycle.launched_activities * kLaunchedShare >= cycle.activities;
    std::int64_t largest_ns = launches_known ? 0 : cycle.idle(IdleReason::queued);
    lost_ns = largest_ns;
    for (const IdleReason reason : kLost) {
      lost_ns += cycle.idle(reason);
      largest_ns = std::max(largest_ns, cycle.idle(reason));
    }
    if (whole_ns <= 0) return;
    idle = 100 * static_cast<double>(idle_ns) / whole_ns;
    lost = 100 * static_cast<double>(lost_ns) / whole_ns;
    largest = 100 * static_cast<double>(largest_ns) / whole_ns;
  }
};

class GpuIdle final : public CycleRule {
 public:
  GpuIdle(const Params& params, const RuleContext&) : CycleRule(Needs::activity), params_(params) {}

 protected:
  std::optional<Verdict> judge(const CycleSummary& cycle) const override {
    const Shares shares(cycle);
    const double least = params_.warning_percent;
    const bool lost = shares.largest >= least || shares.lost >= kAllReasons * least;
    if (lost) return describe(cycle, Severity::warning, shares.lost, least, shares);
    if (shares.idle >= params_.info_percent)
      return describe(cycle, Severity::info, shares.idle, params_.info_percent, shares);
    if (shares.largest >= kStays * least)
      return describe(cycle, Severity::info, shares.largest, least, shares);
    if (shares.idle >= kStays * params_.info_percent)
      return describe(cycle, Severity::info, shares.idle, params_.info_percent, shares);
    return std::nullopt;
  }

 private:
  static Verdict describe(const CycleSummary& cycle, Severity severity, double percent,
                          double threshold, const Shares& shares) {
    Verdict verdict;
    verdict.severity = severity;
    verdict.step = cycle.steps.back().number;
    verdict.value = percent;
    verdict.threshold = threshold;
    verdict.unit = "percent";
    const bool lost = severity == Severity::warning;
    verdict.lost_seconds = static_cast<double>(shares.lost_ns) / 1e9;
    verdict.summary = "The GPU " + std::string(lost ? "has nothing to do for " : "is idle for ") +
                      format::percent(percent) + " of the time";
    verdict.cause = lost ? cycle_text::cause_of_idle(cycle, kLost, shares.lost_ns)
                         : cycle_text::cause_of_idle(cycle, kAll, shares.idle_ns);
    verdict.evidence = evidence(cycle, shares.idle_ns);
    verdict.next = next_of(verdict.cause.name);
    return verdict;
  }

  static std::string evidence(const CycleSummary& cycle, std::int64_t idle_ns) {
    JsonWriter json;
    json.begin_object().field("steps", cycle.steps.size());
    json.field("step_seconds", static_cast<double>(cycle.step_ns()) / 1e9);
    json.field("idle_seconds", static_cast<double>(idle_ns) / 1e9);
    cycle_text::write_idle(json, cycle);
    return json.end_object().take();
  }

  static std::string next_of(CauseName cause) {
    switch (cause) {
      case CauseName::input_wait:
        return "Load data faster: more loader workers, prefetching, or cheaper transforms.";
      case CauseName::host_pause:
        return "Find what holds up the host: run garbage collection between steps, look for locks "
               "and other processes on its cores.";
      case CauseName::synchronization:
        return "Ask the GPU for values less often: .item(), .cpu() and printing a loss wait for "
               "it.";
      case CauseName::kernel_launch:
        return "Give the GPU more work per launch: larger batches, fused kernels, torch.compile or "
               "CUDA graphs.";
      default:
        return "See idle time by cause in the analysis profiler_steps, and the trace itself.";
    }
  }

  Params params_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<GpuIdle, Params>(
      {.id = "gpu_idle",
       .version = 3,
       .scope = Scope::rank,
       .summary = "A GPU was idle for much of a profiler cycle.",
       .doc =
           "The share of the step time of a cycle in which no stream was active, and why: what the "
           "host did during that time. A warning is about time in which the host had launched "
           "nothing.",
       .incident = {.specificity = 40}},
      {field("info_percent", &Params::info_percent, 0, 100,
             "Percentage of the steps without GPU activity that is reported."),
       field("warning_percent", &Params::warning_percent, 0, 100,
             "Percentage of the steps without launched work, for one reason, that is a warning; "
             "twice as much for several together.")});
  return spec;
}

}  // namespace trainwatch::gpu_idle
