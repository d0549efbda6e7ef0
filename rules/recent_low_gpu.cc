// SPDX-License-Identifier: Apache-2.0
#include "rules/recent_low_gpu.h"

#include <algorithm>
#include <cmath>

#include "rules/format.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch::low_gpu_utilization {
namespace {

constexpr double kLargest = 1e6;   // percent; no utilisation is larger
constexpr double kWorks = 5;       // percent; an idle GPU shows up to a few
constexpr std::int64_t kIdle = 8;  // percent of the time: idle enough to fluctuate
constexpr std::int64_t kStaysIdle = 4;
constexpr std::int64_t kBusy = 5;   // percent of the time: busy enough to fluctuate
constexpr std::int64_t kUnder = 5;  // percent of the time: busy less than this is low
constexpr std::int64_t kIntervals = 12;
constexpr std::int64_t kTurns = 4;  // without the condition, at least

}  // namespace

void RecentLowGpu::Slice::state(StateIo& io) {
  io(start);
  io(sum);
  io(samples);
  const bool own = samples >= 1 && samples <= 1'000'000'000 &&
                   std::fabs(sum) <= kLargest * static_cast<double>(samples);
  if (!own) io.fail();
}

void RecentLowGpu::on_sample(const Sample& sample, Verdicts& out) {
  last_ = std::max(last_, sample.at);
  if (!(std::fabs(sample.value) <= kLargest)) return;
  last_value_ = std::max(last_value_, sample.at);
  add(sample);
  if (slices_.fresh()) judge(sample.at, out);
}

void RecentLowGpu::state(StateIo& io) {
  io(slices_);
  io(resumed_);
  io(in_idle_period_);
  io(clear_);
  io(last_);
  io(last_value_);
  if (!std::ranges::all_of(resumed_, is_possible) || !is_possible(last_) ||
      !is_possible(last_value_)) {
    io.fail();
  }
  idle_ = low_ = 0;
  for (const Slice& slice : slices_.all()) count(slice, 1);
}

std::vector<std::string_view> RecentLowGpu::missing() const {
  const bool gone = last_ != kNoTime && (last_value_ == kNoTime || last_ - last_value_ > kGone);
  return gone ? std::vector<std::string_view>{"gpu samples"} : std::vector<std::string_view>{};
}

void RecentLowGpu::add(const Sample& sample) {
  Slice& slice = slices_.at(sample.at, [this](const Slice& old) { count(old, -1); });
  if (slices_.fresh()) {
    slice.sum = sample.value;
    slice.samples = 1;
    count(slice, 1);
    const std::span<const Slice> all = slices_.all();
    if (all.size() > 1) follow_idle_periods(all[all.size() - 2]);  // which is now complete
    return;
  }
  count(slice, -1);
  slice.sum += sample.value;
  ++slice.samples;
  count(slice, 1);
}

void RecentLowGpu::count(const Slice& slice, std::int64_t by) {
  const double mean = slice.mean();
  if (mean < params_.threshold_p5) idle_ += by;
  if (mean < params_.threshold_p95) low_ += by;
}

// A period without work has ended when the GPU is busy again, not when it stirs.
void RecentLowGpu::follow_idle_periods(const Slice& slice) {
  if (slice.mean() < params_.threshold_p5) {
    in_idle_period_ = true;
  } else if (in_idle_period_ && slice.mean() >= params_.threshold_p95) {
    in_idle_period_ = false;
    std::shift_right(resumed_.begin(), resumed_.end(), 1);
    resumed_.front() = slice.start;
  }
}

// Activity is spread over the window. Otherwise the job is starting, ending, pausing or standing
// still, and nothing can be said about how well it uses the GPU.
bool RecentLowGpu::works_throughout() const {
  const Nanos longest =
      slices_.longest_without([](const Slice& slice) { return slice.mean() >= kWorks; });
  return longest <= std::max(slices_.span() / 4, slices_.interval());
}

bool RecentLowGpu::alternates() const {
  if (resumed_.back() == kNoTime) return false;
  const Nanos recent = std::max(slices_.width(), slices_.interval() * kIntervals);
  return slices_.all().back().start - resumed_.back() <= recent;
}

// How long the last periods took, from one without work to the next: long steps need longer to show
// that they no longer alternate.
Nanos RecentLowGpu::turn() const {
  if (resumed_.back() == kNoTime) return {};
  return (resumed_.front() - resumed_.back()) / static_cast<std::int64_t>(resumed_.size() - 1);
}

// Long steps leave few of them in a window, and what is near a limit crosses it again and again.
bool RecentLowGpu::stays_open(const Verdicts& out) const {
  if (out.firings(name_of(Reason::fluctuating)) == 0 || resumed_.front() == kNoTime) return false;
  if (reason() != Reason::none) return false;  // and decides
  const auto slices = static_cast<std::int64_t>(slices_.all().size());
  const Nanos recent = std::max(slices_.width(), 2 * turn());
  return idle_ * 100 >= kStaysIdle * slices &&
         slices_.all().back().start - resumed_.front() <= recent;
}

// Slices of the longest period without work.
std::int64_t RecentLowGpu::longest_idle() const {
  std::int64_t longest = 0;
  std::int64_t now = 0;
  for (const Slice& slice : slices_.all()) {
    now = slice.mean() < params_.threshold_p5 ? now + 1 : 0;
    longest = std::max(longest, now);
  }
  return longest;
}

Reason RecentLowGpu::reason() const {
  const auto slices = static_cast<std::int64_t>(slices_.all().size());
  const std::int64_t high = slices - low_;
  const bool under = high * 100 < kUnder * slices;
  // A single stall is no fluctuation.
  const bool fluctuates = high * 100 >= kBusy * slices && idle_ * 100 >= kIdle * slices &&
                          alternates() &&
                          longest_idle() <= std::max(idle_ * 2 / 3, std::int64_t{1});
  if ((!under && !fluctuates) || !works_throughout()) return Reason::none;
  return under ? Reason::under_utilised : Reason::fluctuating;
}

double RecentLowGpu::mean() const {
  double sum = 0;
  for (const Slice& slice : slices_.all()) sum += slice.mean();
  return sum / static_cast<double>(slices_.all().size());
}

void RecentLowGpu::judge(Time at, Verdicts& out) {
  if (warming()) return;
  if (stays_open(out)) return out.holds(name_of(Reason::fluctuating));
  const Reason now = reason();
  const Reason other = now == Reason::fluctuating ? Reason::under_utilised : Reason::fluctuating;
  // While an alert with the other reason is open, that one has to end first.
  if (now != Reason::none && out.firings(name_of(other)) == 0) {
    clear_.reset();
    return out.fires({.key = name_of(now), .at = at, .figure = mean()},
                     [&] { return describe(now); });
  }
  const Nanos recovery = std::max(from_seconds(params_.recovery_seconds), kTurns * turn());
  if (clear_.elapsed(at, recovery)) out.clear_all(at);
}

Verdict RecentLowGpu::describe(Reason reason) const {
  const std::span<const Slice> slices = slices_.all();
  SortedWindow means(slices.size());
  for (const Slice& slice : slices) means.push(slice.mean());
  const double p95 = means.quantile(0.95);
  const double p5 = means.quantile(0.05);
  const double idle = 100 * static_cast<double>(idle_) / static_cast<double>(slices.size());
  const bool fluctuating = reason == Reason::fluctuating;
  const std::string span = format::seconds(to_seconds(slices_.span()));
  Verdict verdict;
  verdict.value = fluctuating ? p5 : p95;
  verdict.threshold = fluctuating ? params_.threshold_p5 : params_.threshold_p95;
  verdict.unit = "percent";
  verdict.summary =
      fluctuating
          ? "GPU utilisation fluctuates: it was below " + format::percent(params_.threshold_p5) +
                " for " + format::percent(idle) + " of the last " + span +
                ", in several periods, and its 95th percentile is " + format::percent(p95) + "."
          : "GPU utilisation is low: for 95 % of the last " + span + " it was below " +
                format::percent(p95) + ", the median is " + format::percent(means.median()) + ".";
  verdict.evidence = JsonWriter{}
                         .begin_object()
                         .field("reason", name_of(reason))
                         .field("mean", mean())
                         .field("p95", p95)
                         .field("p50", means.median())
                         .field("p5", p5)
                         .field("idle_percent", idle)
                         .field("window_seconds", to_seconds(slices_.span()))
                         .field("since", to_rfc3339(slices.front().start))
                         .end_object()
                         .take();
  verdict.next = advice_for(reason);
  return verdict;
}

}  // namespace trainwatch::low_gpu_utilization
