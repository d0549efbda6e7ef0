// The training loop does not begin for a long time; SageMaker's MaxInitializationTime, see
// docs/rules/max_initialization_time.md.
#include <algorithm>
#include <cstdint>
#include <string>

#include "rules/text.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"

namespace trainwatch {
namespace {

// A tick may only find that steps are missing when all that was written has been read: for this
// many ticks in a row the samples were no older than this.
constexpr std::int64_t kTicksWaited = 30;
constexpr Nanos kUpToDate = std::chrono::minutes(1);

struct Params {
  double threshold = 20;
};

class MaxInitializationTime final : public Rule {
 public:
  MaxInitializationTime(const Params& params, const RuleContext&)
      : params_(params), longest_(static_cast<std::int64_t>(params.threshold * 60e9)) {}

  void on(const Event& event, Verdicts& out) override {
    if (over_) return;
    if (const auto* sample = std::get_if<Sample>(&event)) {
      if (began_ == kNoTime) began_ = sample->at;
      newest_ = std::max(newest_, sample->at);
      if (first_step_ != kNoTime) finish(out);
    } else if (const auto* step = std::get_if<Step>(&event)) {
      first_step_ = first_step_ == kNoTime ? step->start : std::min(first_step_, step->start);
      if (began_ != kNoTime) finish(out);
    } else if (const auto* tick = std::get_if<Tick>(&event)) {
      on_tick(tick->now, out);
    }
  }

  void state(StateIo& io) override {
    io(began_);
    io(newest_);
    io(first_step_);
    io(over_);
    io(open_);
    io(ticks_);
    if (!plausible(began_) || !plausible(newest_) || !plausible(first_step_)) io.fail();
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
    const bool late = first_step_ > limit();
    if (late) out.push_back(firing(first_step_));
    if (!late && !open_) return;
    Verdict& over = out.emplace_back();
    over.state = Verdict::State::ok;
    over.at = std::max(first_step_, limit());  // a step is told when it has ended
    open_ = false;
  }

  void on_tick(Time now, Verdicts& out) {
    if (open_ || began_ == kNoTime) return;
    const bool missing = now > limit() && now - newest_ <= kUpToDate;
    ticks_ = missing ? ticks_ + 1 : 0;
    if (ticks_ < kTicksWaited) return;
    open_ = true;
    out.push_back(firing(kNoTime));
  }

  // Fires at the limit, whenever it is found out, so that it is the same alert live and later.
  Verdict firing(Time first_step) const {
    const bool stepped = first_step != kNoTime;
    const double minutes = to_seconds((stepped ? first_step : limit()) - began_) / 60;
    JsonWriter json;
    json.begin_object().field("first_sample_at", to_rfc3339(began_));
    if (stepped) json.field("first_step_at", to_rfc3339(first_step));
    json.field("minutes", minutes);
    Verdict verdict;
    verdict.at = limit();
    verdict.value = minutes * 60;
    verdict.threshold = params_.threshold * 60;
    verdict.unit = "seconds";
    verdict.summary = stepped ? "The first training step began " + text::figure(minutes) +
                                    " min after the job, later than " +
                                    text::figure(params_.threshold) + " min."
                              : "No training step has begun within " +
                                    text::figure(params_.threshold) + " min of the job's start.";
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
  bool over_ = false;  // there was a step
  bool open_ = false;
  std::int64_t ticks_ = 0;  // in a row that found steps missing
};

}  // namespace

const RuleSpec& max_initialization_time_rule() {
  static const RuleSpec spec = make_spec<MaxInitializationTime, Params>(
      {.id = "max_initialization_time",
       .scope = Scope::node,
       .summary = "The training loop does not begin for a long time.",
       .doc = "SageMaker's MaxInitializationTime: from the first system sample of a node to the "
              "start of the first step there it may take `threshold` minutes.",
       .interest = {.samples = {Resource::cpu_utilization, Resource::gpu_utilization},
                    .steps = true,
                    .ticks = true},
       .on_by_default = false},
      {field("threshold", &Params::threshold, 0, 1440, "Minutes that initialization may take.")});
  return spec;
}

}  // namespace trainwatch
