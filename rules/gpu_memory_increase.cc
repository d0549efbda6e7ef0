// SPDX-License-Identifier: Apache-2.0
// GPU memory use grows a lot in a short time; SageMaker's GPUMemoryIncrease, see
// docs/rules/gpu_memory_increase.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "rules/format.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"

namespace trainwatch::gpu_memory_increase {
namespace {

constexpr double kMinChange = 5;  // percent points; a smaller increase is no update
constexpr double kLargest = 1e6;  // percent; no utilisation is larger, and sums stay exact

struct Params {
  double increase = 5;
  std::int64_t window = 10;
  std::int64_t patience = 1000;
  std::int64_t recovery_samples = 20;
};

// The means of the last `size` values and of the `size` values before them.
class TwoWindows {
 public:
  explicit TwoWindows(std::size_t size) : size_(size) { ring_.reserve(2 * size); }

  void push(double value) {
    if (ring_.size() < 2 * size_) {
      ring_.push_back(value);
      if (full()) sum_again();
      return;
    }
    const double middle = ring_[(next_ + size_) % ring_.size()];  // from newer to older window
    before_ += middle - ring_[next_];
    now_ += value - middle;
    ring_[next_] = value;
    next_ = (next_ + 1) % ring_.size();
    if (next_ == 0) sum_again();  // so that rounding does not add up
  }

  bool full() const { return ring_.size() == 2 * size_; }
  double now() const { return now_ / static_cast<double>(size_); }
  double before() const { return before_ / static_cast<double>(size_); }

  void state(StateIo& io) {
    io(ring_);
    io(next_);
    io(now_);
    io(before_);
    const auto fits = [](double value) { return std::fabs(value) <= kLargest; };
    const bool own = ring_.size() <= 2 * size_ && (full() ? next_ < ring_.size() : next_ == 0) &&
                     std::ranges::all_of(ring_, fits);
    if (own) return;
    io.fail();
    ring_.clear();
    next_ = 0;
  }

 private:
  // Only if the ring begins with the oldest value.
  void sum_again() {
    const auto middle = ring_.begin() + static_cast<std::ptrdiff_t>(size_);
    before_ = std::accumulate(ring_.begin(), middle, 0.0);
    now_ = std::accumulate(middle, ring_.end(), 0.0);
  }

  std::size_t size_;
  std::vector<double> ring_;
  std::uint64_t next_ = 0;  // the oldest value, once the ring is full
  double now_ = 0;          // sums
  double before_ = 0;
};

class GpuMemoryIncrease final : public Rule {
 public:
  GpuMemoryIncrease(const Params& params, const RuleContext&)
      : params_(params), windows_(static_cast<std::size_t>(params.window)) {}

  void on_sample(const Sample& sample, Verdicts& out) override {
    if (!(std::fabs(sample.value) <= kLargest)) return;
    windows_.push(sample.value);
    ++seen_;
    if (warming()) return;
    if (increase() <= params_.increase) return out.clear_all(sample.at);
    const std::uint64_t held = out.firings("") + 1;
    if (held == 1) from_ = windows_.before();
    out.fires({.at = sample.at, .figure = increase()}, [&] { return describe(sample, held); });
  }

  void state(StateIo& io) override {
    io(windows_);
    io(seen_);
    io(from_);
  }

  Lifecycle lifecycle() const override {
    return {.recover_after = params_.recovery_samples,
            .change = Lifecycle::Change::rise,
            .min_change = kMinChange};
  }
  bool warming() const override {
    return seen_ <= static_cast<std::uint64_t>(params_.patience) || !windows_.full();
  }

 private:
  double increase() const { return windows_.now() - windows_.before(); }

  Verdict describe(const Sample& sample, std::uint64_t held) const {
    Verdict verdict;
    verdict.value = increase();
    verdict.threshold = params_.increase;
    verdict.unit = "percent";
    verdict.summary = "GPU memory use grew by " + format::figure(increase()) + " points within " +
                      std::to_string(2 * params_.window) + " samples, from " +
                      format::percent(windows_.before()) + " to " +
                      format::percent(windows_.now()) + " on average.";
    verdict.evidence = JsonWriter{}
                           .begin_object()
                           .field("increase", increase())
                           .field("mean_before", windows_.before())
                           .field("mean_now", windows_.now())
                           .field("mean_at_begin", from_)
                           .field("latest", sample.value)
                           .field("window_samples", params_.window)
                           .field("samples_seen", seen_)
                           .field("samples_in_condition", held)
                           .end_object()
                           .take();
    verdict.next =
        "Check what was allocated then: a larger batch, a longer sequence, activations or results "
        "kept from step to step. If this continues, the GPU runs out of memory.";
    return verdict;
  }

  Params params_;
  TwoWindows windows_;
  std::uint64_t seen_ = 0;
  double from_ = 0;  // the mean before the alert opened
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<GpuMemoryIncrease, Params>(
      {.id = "gpu_memory_increase",
       .scope = Scope::gpu,
       .summary = "GPU memory use grows a lot in a short time.",
       .doc = "SageMaker's GPUMemoryIncrease: the mean of a GPU's last `window` memory samples is "
              "compared with the mean of the `window` samples before them, once more than "
              "`patience` samples were seen; more than `increase` points is too much.",
       .samples = {Resource::gpu_memory_utilization},
       .on_by_default = false},
      {field("increase", &Params::increase, 0, 100,
             "Points (of 100 % of the GPU's memory) between two windows that are too much.",
             {.docs = 10}),
       field("window", &Params::window, 2, 10000, "Samples in one mean.", {.docs = 500}),
       field("patience", &Params::patience, 0, 1000000,
             "Samples required before the first evaluation.", {.docs = 100}),
       field("recovery_samples", &Params::recovery_samples, 1, 1000000,
             "Consecutive samples without the condition that end the alert.")});
  return spec;
}

}  // namespace trainwatch::gpu_memory_increase
