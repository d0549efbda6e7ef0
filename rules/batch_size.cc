// SPDX-License-Identifier: Apache-2.0
// GPU, GPU memory and CPUs all have headroom, so the batch can be larger; SageMaker's BatchSize,
// see docs/rules/batch_size.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "rules/format.h"
#include "rules/sampling_tick.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch::batch_size {
namespace {

constexpr double kMinChange = 5;       // percent points of the 95th percentile
constexpr std::size_t kMaxGpus = 256;  // of a node

struct Params {
  double cpu_threshold_p95 = 70;
  double gpu_threshold_p95 = 70;
  double gpu_memory_threshold_p95 = 70;
  std::int64_t window = 500;
  std::int64_t patience = 1000;
  std::int64_t recovery_samples = 20;
};

struct Gpu {
  Gpu(std::uint32_t device, std::size_t window)
      : number(device), utilisation(window), memory(window) {}

  std::uint32_t number;
  SortedWindow utilisation;
  SortedWindow memory;
  bool sampled = false;  // in this snapshot

  std::string key() const { return "gpu" + std::to_string(number); }
  bool full() const { return is_full(utilisation) && is_full(memory); }

  void state(StateIo& io) {
    io(utilisation);
    io(memory);
    io(sampled);
  }

 private:
  static bool is_full(const SortedWindow& window) { return window.size() == window.capacity(); }
};

class BatchSize final : public Rule {
 public:
  BatchSize(const Params& params, const RuleContext& context)
      : params_(params),
        interner_(context.interner),
        cpu_(static_cast<std::size_t>(params.window)) {}

  void on_sample(const Sample& sample, Verdicts& out) override {
    if (!(std::fabs(sample.value) <= SortedWindow::kLargest)) return;
    if (!tick_.holds(sample.at)) {
      if (!tick_.empty()) close(out);
      tick_.begin(sample.at);
    }
    tick_.add(sample.at);
    add(sample);
  }

  void state(StateIo& io) override {
    io(tick_);
    io(core_sum_);
    io(cores_);
    io(cpu_);
    io(seen_);
    auto count = static_cast<std::uint32_t>(gpus_.size());
    io(count);
    if (count > kMaxGpus) io.fail();
    if (io.is_loading()) gpus_.clear();
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      std::uint32_t number = io.is_loading() ? 0 : gpus_[i].number;
      io(number);
      if (io.is_loading()) gpus_.emplace_back(number, cpu_.capacity());
      io(gpus_[i]);
    }
  }

  Lifecycle lifecycle() const override {
    return {.recover_after = params_.recovery_samples,
            .change = Lifecycle::Change::points,
            .min_change = kMinChange};
  }
  bool warming() const override {
    return !patient() || std::ranges::none_of(gpus_, [](const Gpu& gpu) { return gpu.full(); });
  }

 private:
  bool patient() const {
    return seen_ > static_cast<std::uint64_t>(std::max(params_.patience, params_.window));
  }

  void add(const Sample& sample) {
    if (sample.resource == Resource::cpu_utilization) {
      core_sum_ += sample.value;
      ++cores_;
      return;
    }
    Gpu* gpu = gpu_of(interner_.series[sample.series].device);
    if (gpu == nullptr) return;
    gpu->sampled = true;
    const bool memory = sample.resource == Resource::gpu_memory_utilization;
    (memory ? gpu->memory : gpu->utilisation).push(sample.value);
  }

  Gpu* gpu_of(std::uint32_t number) {
    const auto known = std::ranges::find(gpus_, number, &Gpu::number);
    if (known != gpus_.end()) return &*known;
    if (gpus_.size() >= kMaxGpus) return nullptr;
    return &gpus_.emplace_back(number, cpu_.capacity());
  }

  void close(Verdicts& out) {
    if (cores_ > 0 && cpu_.push(core_sum_ / static_cast<double>(cores_))) ++seen_;
    core_sum_ = 0;
    cores_ = 0;
    for (Gpu& gpu : gpus_) {
      const bool sampled = std::exchange(gpu.sampled, false);
      if (sampled && patient() && gpu.full()) judge(gpu, out);
    }
  }

  bool has_room(const Gpu& gpu) const {
    return cpu_.quantile(0.95) < params_.cpu_threshold_p95 &&
           gpu.utilisation.quantile(0.95) < params_.gpu_threshold_p95 &&
           gpu.memory.quantile(0.95) < params_.gpu_memory_threshold_p95;
  }

  void judge(const Gpu& gpu, Verdicts& out) const {
    const std::string key = gpu.key();
    if (!has_room(gpu)) return out.clear(key, tick_.last());
    const std::uint64_t held = out.firings(key) + 1;
    out.fires({.key = key,
               .at = tick_.last(),
               .severity = Severity::info,
               .amount = std::max(held, static_cast<std::uint64_t>(params_.window)),
               .figure = gpu.utilisation.quantile(0.95)},
              [&] { return describe(gpu, held); });
  }

  Verdict describe(const Gpu& gpu, std::uint64_t held) const {
    const double used = gpu.utilisation.quantile(0.95);
    const double memory = gpu.memory.quantile(0.95);
    const double cpu = cpu_.quantile(0.95);
    Verdict verdict;
    verdict.value = used;
    verdict.threshold = params_.gpu_threshold_p95;
    verdict.unit = "percent";
    verdict.summary =
        "The batch can be larger: 95 % of the last " + std::to_string(gpu.utilisation.size()) +
        " samples show " + gpu.key() + " below " + format::percent(used) + " utilisation and " +
        format::percent(memory) + " memory, and the CPUs below " + format::percent(cpu) + ".";
    verdict.evidence = JsonWriter{}
                           .begin_object()
                           .field("gpu", gpu.key())
                           .field("gpu_p95", used)
                           .field("gpu_p50", gpu.utilisation.median())
                           .field("gpu_memory_p95", memory)
                           .field("gpu_memory_p50", gpu.memory.median())
                           .field("cpu_p95", cpu)
                           .field("cpu_p50", cpu_.median())
                           .field("window_samples", gpu.utilisation.size())
                           .field("samples_seen", seen_)
                           .field("samples_in_condition", held)
                           .end_object()
                           .take();
    verdict.next =
        "Increase the batch size until the GPU or its memory is well used, or use a smaller "
        "instance.";
    return verdict;
  }

  Params params_;
  const Interner& interner_;
  SamplingTick tick_;
  double core_sum_ = 0;  // of this snapshot
  std::uint64_t cores_ = 0;
  SortedWindow cpu_;        // mean utilisation of the cores, one value per snapshot
  std::uint64_t seen_ = 0;  // snapshots with a core in them
  std::vector<Gpu> gpus_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<BatchSize, Params>(
      {.id = "batch_size",
       .scope = Scope::node,
       .summary = "GPU, GPU memory and CPUs all have headroom: the batch can be larger.",
       .doc = "SageMaker's BatchSize: over the last `window` samples of a node, once more than "
              "`patience` were seen, the 95th percentiles of the mean CPU utilisation, of a GPU's "
              "utilisation and of its memory are all below their thresholds.",
       .samples = {Resource::cpu_utilization, Resource::gpu_utilization,
                   Resource::gpu_memory_utilization},
       .on_by_default = false},
      {field("cpu_threshold_p95", &Params::cpu_threshold_p95, 0, 100,
             "Percent; the CPUs have headroom below it."),
       field("gpu_threshold_p95", &Params::gpu_threshold_p95, 0, 100,
             "Percent; a GPU has headroom below it."),
       field("gpu_memory_threshold_p95", &Params::gpu_memory_threshold_p95, 0, 100,
             "Percent; a GPU's memory has headroom below it."),
       field("window", &Params::window, 10, 100000, "Samples in the window."),
       field("patience", &Params::patience, 0, 1000000,
             "Samples required before the first evaluation.", {.docs = 100}),
       field("recovery_samples", &Params::recovery_samples, 1, 1000000,
             "Consecutive samples without the condition that end the alert.")});
  return spec;
}

}  // namespace trainwatch::batch_size
