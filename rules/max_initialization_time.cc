// SPDX-License-Identifier: Apache-2.0
// The training loop takes long to begin; SageMaker's MaxInitializationTime, see
// docs/rules/max_initialization_time.md.
#include <algorithm>
#include <cstdint>
#include <string>

#include "rules/format.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"

namespace trainwatch::max_initialization_time {
namespace {

// A tick may only conclude that steps are missing when all input has been read: for this many ticks
// in a row the samples were no older than this.
constexpr std::int64_t kTicksWaited = 30;
constexpr Nanos kUpToDate = std::chrono::minutes(1);

struct Params {
  double threshold = 20;
};

class MaxInitializationTime final : public Rule {
 public:
  MaxInitializationTime(const Params& params, const RuleContext&)
      : params_(params), longest_(static_cast<std::int64_t>(params.threshold * 60e9)) {}

  void on_sample(const Sample& sample, Verdicts& out) override {
    if (over_) return;
    if (began_ == kNoTime) began_ = sample.at;
    newest_ = std::max(newest_, sample.at);
    if (first_step_ != kNoTime) finish(out);
  }

  void on_step(const Step& step, Verdicts& out) override {
    if (over_) return;
    first_step_ = first_step_ == kNoTime ? step.start : std::min(first_step_, step.start);
    if (began_ != kNoTime) finish(out);
  }

  TickResult on_tick(Tick tick, Verdicts& out) override {
    if (over_ || began_ == kNoTime) return {};
    const bool missing = tick.now > limit() && tick.now - newest_ <= kUpToDate;
    ticks_ = missing ? ticks_ + 1 : 0;
    if (ticks_ >= kTicksWaited) fire(kNoTime, out);
    return {.changed = true};
  }

  void state(StateIo& io) override {
    io(began_);
    io(newest_);
    io(first_step_);
    io(over_);
    io(ticks_);
    if (!plausible(began_) || !plausible(newest_) || !plausible(first_step_)) io.fail();
  }

  // All ticks that find steps missing say the same; only the first step adds anything.
  Lifecycle lifecycle() const override {
    return {.change = Lifecycle::Change::points, .min_change = 1};
  }
  bool warming() const override { return began_ == kNoTime; }

 private:
  // Such times can be subtracted from each other.
  static bool plausible(Time time) {
    constexpr Nanos kFar = Nanos::max() / 2;
    return time == kNoTime || std::chrono::abs(time.time_since_epoch()) <= kFar;
  }
  Time limit() const { return began_ + longest_; }

  void finish(Verdicts& out) {
    over_ = true;
    if (first_step_ > limit()) fire(first_step_, out);
    out.clear_all(std::max(first_step_, limit()));  // a step is known when it has ended
  }

  // Fires at the limit, whenever it is detected, so that live and replayed alerts are the same.
  void fire(Time first_step, Verdicts& out) const {
    const std::uint64_t aspect = first_step == kNoTime ? 0 : 1;
    out.fires({.at = limit(), .aspect = aspect}, [&] { return describe(first_step); });
  }

  Verdict describe(Time first_step) const {
    const bool stepped = first_step != kNoTime;
    const double minutes = to_seconds((stepped ? first_step : limit()) - began_) / 60;
    JsonWriter json;
    json.begin_object().field("first_sample_at", to_rfc3339(began_));
    if (stepped) json.field("first_step_at", to_rfc3339(first_step));
    json.field("minutes", minutes);
    Verdict verdict;
    verdict.value = minutes * 60;
    verdict.threshold = params_.threshold * 60;
    verdict.unit = "seconds";
    verdict.summary = stepped ? "The first training step began " + format::figure(minutes) +
                                    " min after the job, later than " +
                                    format::figure(params_.threshold) + " min."
                              : "No training step has begun within " +
                                    format::figure(params_.threshold) + " min of the job's start.";
    verdict.evidence = json.end_object().take();
    verdict.next =
        "Look at what the job does before its first step: downloading data, building indexes, "
        "compiling, or waiting for other nodes.";
    return verdict;
  }

  Params params_;
  Nanos longest_;
  Time began_ = kNoTime;   // the first sample
  Time newest_ = kNoTime;  // the newest sample
  Time first_step_ = kNoTime;
  bool over_ = false;       // there was a step
  std::int64_t ticks_ = 0;  // in a row that found steps missing
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<MaxInitializationTime, Params>(
      {.id = "max_initialization_time",
       .scope = Scope::node,
       .summary = "The training loop takes long to begin.",
       .doc = "SageMaker's MaxInitializationTime: at most `threshold` minutes may pass from the "
              "first system sample of a node to the start of the first step there.",
       .samples = {Resource::cpu_utilization, Resource::gpu_utilization},
       .on_by_default = false},
      {field("threshold", &Params::threshold, 0, 1440, "Minutes that initialisation may take.")});
  return spec;
}

}  // namespace trainwatch::max_initialization_time
