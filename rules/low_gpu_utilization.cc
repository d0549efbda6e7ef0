// A GPU that is never busy, or busy and idle in turns; SageMaker's LowGPUUtilization, see
// docs/rules/low_gpu_utilization.md.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "rules/text.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch {
namespace {

constexpr double kMaterialPoints = 5;  // percent points; a smaller change is not told

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

  void on(const Event& event, Verdicts& out) override {
    const Sample* sample = std::get_if<Sample>(&event);
    if (sample == nullptr || !recent_.push(sample->value)) return;
    ++seen_;
    if (warming()) return;
    const Reason now = reason();
    if (open_ == Reason::none) {
      if (now != Reason::none) open(now, sample->at, out);
    } else if (now == open_) {
      other_ = 0;
      ++held_;
      if (material()) tell(sample->at, out);
    } else if (++other_ >= params_.recovery_samples) {
      close(sample->at, out);
      if (now != Reason::none) open(now, sample->at, out);
    }
  }

  void state(StateIo& io) override {
    io(recent_);
    io(seen_);
    io(open_);
    io(held_);
    io(other_);
    io(told_value_);
    io(told_held_);
    if (open_ > Reason::fluctuating) io.fail();
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
  double value() const { return open_ == Reason::fluctuating ? p5() : p95(); }
  bool material() const {
    return std::fabs(value() - told_value_) >= kMaterialPoints || held_ >= 2 * told_held_;
  }

  void open(Reason reason, Time at, Verdicts& out) {
    open_ = reason;
    held_ = 1;
    other_ = 0;
    tell(at, out);
  }

  void close(Time at, Verdicts& out) {
    Verdict& over = out.emplace_back();
    over.state = Verdict::State::ok;
    over.at = at;
    over.key = name_of(open_);
    open_ = Reason::none;
  }

  void tell(Time at, Verdicts& out) {
    told_value_ = value();
    told_held_ = std::max(held_, static_cast<std::uint64_t>(params_.window));
    out.push_back(firing(at));
  }

  std::string summary() const {
    const std::string samples = std::to_string(recent_.size()) + " samples";
    if (open_ == Reason::fluctuating) {
      return "GPU utilisation fluctuates: in the last " + samples + " its 5th percentile is " +
             text::percent(p5()) + " while its 95th is " + text::percent(p95()) + ".";
    }
    return "GPU utilisation is low: 95 % of the last " + samples + " are below " +
           text::percent(p95()) + ", the median is " + text::percent(recent_.median()) + ".";
  }

  Verdict firing(Time at) const {
    const bool fluctuating = open_ == Reason::fluctuating;
    Verdict verdict;
    verdict.at = at;
    verdict.key = name_of(open_);
    verdict.value = value();
    verdict.threshold = fluctuating ? params_.threshold_p5 : params_.threshold_p95;
    verdict.baseline = recent_.median();
    verdict.unit = "percent";
    verdict.summary = summary();
    verdict.evidence = JsonWriter{}
                           .begin_object()
                           .field("reason", name_of(open_))
                           .field("p95", p95())
                           .field("p50", recent_.median())
                           .field("p5", p5())
                           .field("window_samples", recent_.size())
                           .field("samples_seen", seen_)
                           .field("samples_in_condition", held_)
                           .end_object()
                           .take();
    verdict.next = fluctuating
                       ? "Something makes the GPU wait in turns: look for input waits, "
                         "synchronisation or evaluation in the step timeline."
                       : "Give the GPU more work at a time, such as a larger batch or a larger "
                         "model, or use a smaller or shared GPU.";
    return verdict;
  }

  Params params_;
  SortedWindow recent_;
  std::uint64_t seen_ = 0;
  Reason open_ = Reason::none;
  std::uint64_t held_ = 0;  // samples in the open condition
  std::int64_t other_ = 0;  // samples in a row without it
  double told_value_ = 0;
  std::uint64_t told_held_ = 0;
};

}  // namespace

const RuleSpec& low_gpu_utilization_rule() {
  static const RuleSpec spec = make_spec<LowGpuUtilization, Params>(
      {.id = "low_gpu_utilization",
       .scope = Scope::gpu,
       .summary = "A GPU is never fully used, or busy and idle in turns.",
       .doc = "SageMaker's LowGPUUtilization over the last `window` samples of a GPU once more "
              "than `patience` were seen: 95th percentile below threshold_p95 is under-utilised; "
              "above it, with the 5th percentile below threshold_p5, is fluctuating.",
       .interest = {.samples = {Resource::gpu_utilization}}},
      {field("threshold_p95", &Params::threshold_p95, 0, 100,
             "Percent; a 95th percentile below it is under-utilised."),
       field("threshold_p5", &Params::threshold_p5, 0, 100,
             "Percent; a 5th percentile below it is fluctuating."),
       field("window", &Params::window, 10, 100000, "Samples that are looked at."),
       field("patience", &Params::patience, 0, 1000000, "Samples seen before the first judgement."),
       field("recovery_samples", &Params::recovery_samples, 1, 1000000,
             "Samples in a row without the condition that end the alert.")});
  return spec;
}

}  // namespace trainwatch
