// A GPU that is never fully used, or alternates between busy and idle; SageMaker's
// LowGPUUtilization, see docs/rules/low_gpu_utilization.md.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "rules/format.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch::low_gpu_utilization {
namespace {

constexpr double kMinChange = 5;  // percent points

struct Params {
  double threshold_p95 = 70;
  double threshold_p5 = 10;
  std::int64_t window = 500;
  std::int64_t patience = 1000;
  std::int64_t recovery_samples = 20;
};

enum class Reason : std::uint8_t { none, under_utilised, fluctuating };

std::string_view name_of(Reason reason) {
  return reason == Reason::fluctuating ? "fluctuating" : "under_utilised";
}

class LowGpuUtilization final : public Rule {
 public:
  LowGpuUtilization(const Params& params, const RuleContext&)
      : params_(params), recent_(static_cast<std::size_t>(params.window)) {}

  void on_sample(const Sample& sample, Verdicts& out) override {
    if (!recent_.push(sample.value)) return;
    ++seen_;
    if (warming()) return;
    const Reason now = reason();
    if (now == Reason::none) return out.clear_all(sample.at);
    const std::uint64_t held = out.firings(name_of(now)) + 1;
    out.fires({.key = name_of(now),
               .at = sample.at,
               .amount = std::max(held, static_cast<std::uint64_t>(params_.window)),
               .figure = value(now)},
              [&] { return describe(now, held); });
  }

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
  double p95() const { return recent_.quantile(0.95); }
  double p5() const { return recent_.quantile(0.05); }

  Reason reason() const {
    const double high = p95();
    if (high < params_.threshold_p95) return Reason::under_utilised;
    if (high > params_.threshold_p95 && p5() < params_.threshold_p5) return Reason::fluctuating;
    return Reason::none;
  }
  double value(Reason reason) const { return reason == Reason::fluctuating ? p5() : p95(); }
  std::string summary(Reason reason) const {
    const std::string samples = std::to_string(recent_.size()) + " samples";
    if (reason == Reason::fluctuating) {
      return "GPU utilisation fluctuates: in the last " + samples + " its 5th percentile is " +
             format::percent(p5()) + " while its 95th is " + format::percent(p95()) + ".";
    }
    return "GPU utilisation is low: 95 % of the last " + samples + " are below " +
           format::percent(p95()) + ", the median is " + format::percent(recent_.median()) + ".";
  }

  Verdict describe(Reason reason, std::uint64_t held) const {
    const bool fluctuating = reason == Reason::fluctuating;
    Verdict verdict;
    verdict.value = value(reason);
    verdict.threshold = fluctuating ? params_.threshold_p5 : params_.threshold_p95;
    verdict.baseline = recent_.median();
    verdict.unit = "percent";
    verdict.summary = summary(reason);
    verdict.evidence = JsonWriter{}
                           .begin_object()
                           .field("reason", name_of(reason))
                           .field("p95", p95())
                           .field("p50", recent_.median())
                           .field("p5", p5())
                           .field("window_samples", recent_.size())
                           .field("samples_seen", seen_)
                           .field("samples_in_condition", held)
                           .end_object()
                           .take();
    verdict.next = fluctuating
                       ? "Something makes the GPU wait at intervals: look for input waits, "
                         "synchronisation or evaluation in the step timeline."
                       : "Give the GPU more work at a time, such as a larger batch or a larger "
                         "model, or use a smaller or shared GPU.";
    return verdict;
  }

  Params params_;
  SortedWindow recent_;
  std::uint64_t seen_ = 0;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<LowGpuUtilization, Params>(
      {.id = "low_gpu_utilization",
       .scope = Scope::gpu,
       .summary = "A GPU is never fully used, or alternates between busy and idle.",
       .doc = "SageMaker's LowGPUUtilization over the last `window` samples of a GPU once more "
              "than `patience` were seen: 95th percentile below threshold_p95 is under-utilised; "
              "above it, with the 5th percentile below threshold_p5, is fluctuating.",
       .samples = {Resource::gpu_utilization}},
      {field("threshold_p95", &Params::threshold_p95, 0, 100,
             "Percent; a 95th percentile below it is under-utilised."),
       field("threshold_p5", &Params::threshold_p5, 0, 100,
             "Percent; a 5th percentile below it is fluctuating."),
       field("window", &Params::window, 10, 100000, "Samples in the window."),
       field("patience", &Params::patience, 0, 1000000,
             "Samples required before the first evaluation."),
       field("recovery_samples", &Params::recovery_samples, 1, 1000000,
             "Consecutive samples without the condition that end the alert.")});
  return spec;
}

}  // namespace trainwatch::low_gpu_utilization
