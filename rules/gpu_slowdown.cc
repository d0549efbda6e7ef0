// SPDX-License-Identifier: Apache-2.0
// A busy GPU whose clocks are held back; see docs/rules/gpu_slowdown.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/format.h"
#include "rules/time_slices.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/median.h"

namespace trainwatch::gpu_slowdown {
namespace {

// Bits of nvmlClocksEventReasons. Idle, sync boost and display clocks are nobody's fault.
constexpr std::uint32_t kApplicationClocks = 0x2;  // someone asked for it
constexpr std::uint32_t kPowerCap = 0x4;           // usual under full load
constexpr std::pair<std::uint32_t, std::string_view> kFaults[] = {
    {0x8, "hardware slowdown"},
    {0x20, "software thermal slowdown"},
    {0x40, "hardware thermal slowdown"},
    {0x80, "hardware power brake"}};
constexpr std::uint32_t kFaultBits = 0x8 | 0x20 | 0x40 | 0x80;

constexpr double kLargest = 1e6;             // MHz
constexpr double kMostReasons = 4294967295;  // all bits of 32
constexpr double kCapped = 0.5;              // of the best clock; a power cap alone explains more
constexpr double kSamePower = 0.93;          // of the highest: less, and the cap was lowered
constexpr std::size_t kBusyPercent = 80;     // of the slices
constexpr std::size_t kLowPercent = 90;      // of the busy slices
constexpr std::size_t kFaultPercent = 70;    // of the busy slices; thermal limits flicker
constexpr double kMinChange = 1.1;           // factor of the clock
constexpr Nanos kSameTick = std::chrono::seconds(2);
constexpr Nanos kGone = std::chrono::seconds(150);

struct Params {
  double drop_percent = 15;
  double busy_percent = 50;
  double hold_seconds = 60;
  double recovery_seconds = 60;
};

struct Slice {
  Time start{};
  double clock = 0;  // the last one; 0: unknown
  double power = 0;  // likewise
  std::uint32_t reasons = 0;
  bool busy = false;

  void state(StateIo& io) {
    io(start);
    io(clock);
    io(power);
    io(reasons);
    io(busy);
    if (!(clock >= 0 && clock <= kLargest && power >= 0 && power <= kLargest)) io.fail();
  }
};

// The busy slices of the window.
struct Summary {
  std::size_t busy = 0;
  std::size_t low = 0;     // below the limit
  std::size_t fault = 0;   // with a reason that is a fault
  std::size_t capped = 0;  // at the power cap
  std::size_t asked = 0;   // at application clocks
  std::uint32_t reasons = 0;
  double clock = 0;     // median
  double power = 0;     // likewise
  Time from = kNoTime;  // the first that is slow
};

class GpuSlowdown final : public Rule {
 public:
  GpuSlowdown(const Params& params, const RuleContext&)
      : params_(params), slices_(from_seconds(params.hold_seconds) * 5 / 4) {}

  void on_sample(const Sample& sample, Verdicts& out) override;
  void state(StateIo& io) override;
  Lifecycle lifecycle() const override {
    return {.change = Lifecycle::Change::factor, .min_change = kMinChange};
  }
  bool warming() const override { return !slices_.covers(from_seconds(params_.hold_seconds)); }
  std::vector<std::string_view> missing() const override;

 private:
  bool busy_at(Time at) const {
    return at - busy_seen_ <= kSameTick && utilisation_ >= params_.busy_percent;
  }
  double limit() const { return best_ * (1 - params_.drop_percent / 100); }
  Summary summarise() const;
  bool held_back(const Summary& seen) const;
  void judge(Time at, Verdicts& out);
  Verdict describe(const Summary& seen) const;

  Params params_;
  TimeSlices<Slice> slices_;
  double utilisation_ = 0;
  Time busy_seen_{};  // of that sample
  Time clock_seen_{};
  double best_ = 0;  // the highest median of a window
  double highest_power_ = 0;
  Time since_ = kNoTime;  // the clocks are held back
  ClearTime clear_;
};

void GpuSlowdown::on_sample(const Sample& sample, Verdicts& out) {
  if (!(sample.value >= 0 && sample.value <= kMostReasons)) return;
  if (sample.resource == Resource::gpu_utilization) {
    utilisation_ = sample.value;
    busy_seen_ = std::max(busy_seen_, sample.at);
    return;
  }
  if (sample.resource == Resource::gpu_sm_clock) clock_seen_ = std::max(clock_seen_, sample.at);
  Slice& slice = slices_.at(sample.at, [](const Slice&) {});
  slice.busy = busy_at(sample.at);
  if (sample.resource == Resource::gpu_sm_clock) {
    slice.clock = std::min(sample.value, kLargest);
  } else if (sample.resource == Resource::gpu_power) {
    slice.power = std::min(sample.value, kLargest);
  } else {
    slice.reasons |= static_cast<std::uint32_t>(sample.value);
  }
  if (slices_.fresh()) judge(sample.at, out);
}

void GpuSlowdown::state(StateIo& io) {
  io(slices_);
  io(utilisation_);
  io(busy_seen_);
  io(clock_seen_);
  io(best_);
  io(highest_power_);
  io(since_);
  io(clear_);
  const bool times = busy_seen_ >= Time{} && clock_seen_ >= Time{} && is_possible(since_);
  if (!times || !(best_ >= 0 && best_ <= kLargest) ||
      !(highest_power_ >= 0 && highest_power_ <= kLargest) || std::isnan(utilisation_))
    io.fail();
}

std::vector<std::string_view> GpuSlowdown::missing() const {
  if (clock_seen_ == Time{} || busy_seen_ == Time{}) return {};  // nobody samples both
  if (busy_seen_ - clock_seen_ > kGone) return {"gpu clock samples"};
  if (clock_seen_ - busy_seen_ > kGone) return {"gpu samples"};
  return {};
}

Summary GpuSlowdown::summarise() const {
  Summary seen;
  std::vector<double> clocks;
  std::vector<double> powers;
  for (const Slice& slice : slices_.all()) {
    if (!slice.busy) continue;
    ++seen.busy;
    seen.reasons |= slice.reasons;
    const bool fault = (slice.reasons & kFaultBits) != 0;
    const bool low = slice.clock > 0 && slice.clock < limit();
    if ((fault || low) && seen.from == kNoTime) seen.from = slice.start;
    if (fault) ++seen.fault;
    if (low) ++seen.low;
    if ((slice.reasons & kPowerCap) != 0) ++seen.capped;
    if ((slice.reasons & kApplicationClocks) != 0) ++seen.asked;
    if (slice.clock > 0) clocks.push_back(slice.clock);
    if (slice.power > 0) powers.push_back(slice.power);
  }
  if (!clocks.empty()) seen.clock = median_of(std::move(clocks));
  if (!powers.empty()) seen.power = median_of(std::move(powers));
  return seen;
}

bool GpuSlowdown::held_back(const Summary& seen) const {
  if (seen.fault * 100 >= kFaultPercent * seen.busy) return true;
  if (seen.low * 100 < kLowPercent * seen.busy || seen.asked * 2 > seen.busy) return false;
  if (seen.capped * 2 <= seen.busy || seen.clock < kCapped * best_) return true;
  return seen.power > 0 && seen.power < kSamePower * highest_power_;  // a lower cap than before
}

void GpuSlowdown::judge(Time at, Verdicts& out) {
  if (warming()) return;
  const Summary seen = summarise();
  const bool busy = seen.busy * 100 >= kBusyPercent * slices_.all().size();
  if (busy && held_back(seen)) {
    if (since_ == kNoTime) since_ = seen.from;
    clear_.reset();
    return out.fires({.at = at, .figure = seen.clock}, [&] { return describe(seen); });
  }
  if (busy) {
    best_ = std::max(best_, seen.clock);
    highest_power_ = std::max(highest_power_, seen.power);
  }
  if (!clear_.elapsed(at, from_seconds(params_.recovery_seconds))) return;
  since_ = kNoTime;
  out.clear_all(at);
}

Verdict GpuSlowdown::describe(const Summary& seen) const {
  std::string why;
  for (const auto& [bit, name] : kFaults) {
    if ((seen.reasons & bit) != 0) why.append(why.empty() ? "" : ", ").append(name);
  }
  if (why.empty() && (seen.reasons & kPowerCap) != 0) why = "software power cap";
  const bool known = best_ > 0 && seen.clock > 0;
  const double lost = known ? std::max(1 - seen.clock / best_, 0.0) : 0;
  const std::string since = to_rfc3339(since_);
  Verdict verdict;
  verdict.since = since_;
  verdict.value = seen.clock;
  verdict.threshold = limit();
  verdict.baseline = best_;
  const Time latest = slices_.all().back().start;
  verdict.lost_seconds = lost * to_seconds(std::max(latest - since_, Nanos{}));
  verdict.unit = "MHz";
  verdict.summary = "The GPU is busy and its clock is held back since " + since + ": " +
                    (known ? format::figure(seen.clock) + " of " + format::figure(best_) + " MHz, "
                           : std::string()) +
                    "reason: " + (why.empty() ? "not known" : why) + ".";
  verdict.cause.name = CauseName::gpu_slowdown;
  verdict.cause.coverage = 1;
  verdict.cause.explanation =
      "The SM clock is " + format::percent(100 * lost) + " below its best sustained level.";
  verdict.evidence = JsonWriter{}
                         .begin_object()
                         .field("clock_mhz", seen.clock)
                         .field("best_clock_mhz", best_)
                         .field("reasons", why)
                         .field("reason_bits", seen.reasons)
                         .field("since", since)
                         .end_object()
                         .take();
  verdict.next =
      "Look at the temperature, the fans and the power supply of this machine (nvidia-smi -q -d "
      "PERFORMANCE,CLOCK,TEMPERATURE), or move the job to another one.";
  return verdict;
}

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<GpuSlowdown, Params>(
      {.id = "gpu_slowdown",
       .version = 2,
       .scope = Scope::gpu,
       .summary = "A GPU is busy, and its clocks are held back.",
       .doc = "For hold_seconds, a busy GPU's SM clock is drop_percent below its own best "
              "sustained level and neither the power cap nor application clocks explain it, or "
              "the driver gives a thermal limit, a power brake or a hardware slowdown as the "
              "reason. `trainwatch sample` writes both.",
       .samples = {Resource::gpu_utilization, Resource::gpu_sm_clock,
                   Resource::gpu_throttle_reasons, Resource::gpu_power},
       .incident = {.specificity = 80, .slack = std::chrono::minutes(2)}},
      {field("drop_percent", &Params::drop_percent, 1, 99,
             "Percent below the best sustained clock from which a GPU is slow."),
       field("busy_percent", &Params::busy_percent, 0, 100,
             "Utilisation (percent) from which a GPU is busy."),
       field("hold_seconds", &Params::hold_seconds, 1, 3600,
             "Seconds for which the clock must be held back."),
       field("recovery_seconds", &Params::recovery_seconds, 0, 3600,
             "Seconds without the condition that end the alert.")});
  return spec;
}

}  // namespace trainwatch::gpu_slowdown
