// SPDX-License-Identifier: Apache-2.0
// The GPUs of a node are not loaded equally; SageMaker's LoadBalancing, see
// docs/rules/load_balancing.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "rules/format.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/compensated_sum.h"

namespace trainwatch::load_balancing {
namespace {

constexpr double kMinChange = 0.05;   // of the distance
constexpr std::size_t kMaxGpus = 32;  // of a node
constexpr std::size_t kBins = 50;     // of two points each

struct Params {
  double threshold = 0.5;
  std::int64_t patience = 1000;
  std::int64_t recovery_samples = 20;
};

// How often a GPU was how busy, over the whole history.
struct Load {
  std::uint32_t gpu = 0;
  std::uint32_t next_other = 0;  // the GPU it is compared with next
  std::uint64_t samples = 0;
  CompensatedSum sum;
  std::array<std::uint64_t, kBins> bins{};

  void add(double percent) {
    ++samples;
    sum.add(percent);
    ++bins[std::min(static_cast<std::size_t>(percent / 2), kBins - 1)];
  }
  double mean() const { return sum.value() / static_cast<double>(samples); }
  std::string name() const { return "gpu" + std::to_string(gpu); }
};

// Jensen-Shannon distance, natural logarithm: 0 for equal shares, sqrt(ln 2) = 0.8326 at most.
double distance(const Load& a, const Load& b) {
  double divergence = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    const double p = static_cast<double>(a.bins[i]) / static_cast<double>(a.samples);
    const double q = static_cast<double>(b.bins[i]) / static_cast<double>(b.samples);
    const double middle = (p + q) / 2;
    if (p > 0) divergence += p * std::log(p / middle);
    if (q > 0) divergence += q * std::log(q / middle);
  }
  return std::sqrt(std::max(divergence, 0.0) / 2);
}

class LoadBalancing final : public Rule {
 public:
  LoadBalancing(const Params& params, const RuleContext& context)
      : params_(params), interner_(context.interner) {}

  void on_sample(const Sample& sample, Verdicts& out) override {
    if (!std::isfinite(sample.value)) return;
    Load* load = load_of(interner_.series[sample.series].device);
    if (load == nullptr) return;
    load->add(std::clamp(sample.value, 0.0, 100.0));
    if (patient(*load) && compare_with_next(*load)) judge(sample.at, out);
  }

  void state(StateIo& io) override {
    io(loads_);
    io(distances_);
    io(compared_);
    const std::size_t pairs = pair_index(0, std::max<std::size_t>(loads_.size(), 1));
    const auto own = [&](const Load& load) { return load.next_other < loads_.size(); };
    if (loads_.size() > kMaxGpus || distances_.size() != pairs ||
        !std::ranges::all_of(loads_, own)) {
      io.fail();
      loads_.clear();
      distances_.clear();
    }
  }

  Lifecycle lifecycle() const override {
    return {.recover_after = params_.recovery_samples,
            .change = Lifecycle::Change::points,
            .min_change = kMinChange};
  }
  bool warming() const override { return !compared_; }

 private:
  // The index of the pair i < j; with i = 0 also the number of pairs of j GPUs.
  static std::size_t pair_index(std::size_t i, std::size_t j) { return j * (j - 1) / 2 + i; }

  bool patient(const Load& load) const {
    return load.samples > static_cast<std::uint64_t>(params_.patience);
  }

  Load* load_of(std::uint32_t gpu) {
    const auto known = std::ranges::find(loads_, gpu, &Load::gpu);
    if (known != loads_.end()) return &*known;
    if (loads_.size() >= kMaxGpus) return nullptr;
    distances_.resize(pair_index(0, loads_.size() + 1));
    Load& load = loads_.emplace_back();
    load.gpu = gpu;
    return &load;
  }

  // Each sample is compared with one other GPU, in turn, so that it costs the same with many GPUs.
  bool compare_with_next(Load& load) {
    const auto self = static_cast<std::size_t>(&load - loads_.data());
    std::size_t other = load.next_other;
    if (other == self) other = (other + 1) % loads_.size();
    load.next_other = static_cast<std::uint32_t>((other + 1) % loads_.size());
    if (other == self || !patient(loads_[other])) return false;
    compared_ = true;
    distances_[pair_index(std::min(self, other), std::max(self, other))] =
        distance(load, loads_[other]);
    return true;
  }

  struct Worst {
    std::size_t pair = 0;
    const Load* first = nullptr;
    const Load* second = nullptr;
    double distance = 0;
  };
  Worst worst() const {
    Worst worst;
    for (std::size_t j = 1; j < loads_.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        const std::size_t pair = pair_index(i, j);
        if (worst.first != nullptr && distances_[pair] <= worst.distance) continue;
        worst = {pair, &loads_[i], &loads_[j], distances_[pair]};
      }
    }
    return worst;
  }

  void judge(Time at, Verdicts& out) const {
    const Worst now = worst();
    if (now.distance <= params_.threshold) return out.clear_all(at);
    out.fires({.at = at, .aspect = now.pair, .amount = now.first->samples, .figure = now.distance},
              [&] { return describe(now); });
  }

  std::string evidence(const Worst& worst) const {
    const auto over = std::ranges::count_if(
        distances_, [&](double distance) { return distance > params_.threshold; });
    JsonWriter json;
    json.begin_object()
        .field("distance", worst.distance)
        .field("first", worst.first->name())
        .field("second", worst.second->name())
        .field("pairs_over_threshold", over)
        .field("pairs", distances_.size())
        .field("samples_seen", worst.first->samples);
    json.key("mean_utilisation").begin_object();
    for (const Load& load : loads_) json.field(load.name(), load.mean());
    return json.end_object().end_object().take();
  }

  Verdict describe(const Worst& worst) const {
    Verdict verdict;
    verdict.value = worst.distance;
    verdict.threshold = params_.threshold;
    verdict.unit = "ratio";
    verdict.summary =
        worst.first->name() + " and " + worst.second->name() +
        " are not loaded equally: they are busy " + format::percent(worst.first->mean()) + " and " +
        format::percent(worst.second->mean()) +
        " on average, and their utilisation histograms are " + format::figure(worst.distance) +
        " apart (Jensen-Shannon distance, at most 0.833).";
    verdict.evidence = evidence(worst);
    verdict.next =
        "Give every GPU the same share of the batch, and look for work that only one of them does "
        "(loss, logging, data preparation) or for ranks that share a GPU.";
    return verdict;
  }

  Params params_;
  const Interner& interner_;
  std::vector<Load> loads_;
  std::vector<double> distances_;  // by pair_index()
  bool compared_ = false;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<LoadBalancing, Params>(
      {.id = "load_balancing",
       .scope = Scope::node,
       .summary = "The GPUs of a node are not loaded equally.",
       .doc = "SageMaker's LoadBalancing: for every two GPUs of a node with more than `patience` "
              "samples each, the Jensen-Shannon distance between the histograms of their "
              "utilisation (all samples, bins of two points) is compared with `threshold`.",
       .samples = {Resource::gpu_utilization},
       .on_by_default = false},
      {field("threshold", &Params::threshold, 0, 1,
             "Distance between two GPUs that is too large; 0 is equal, 0.833 entirely different."),
       field("patience", &Params::patience, 0, 1000000,
             "Samples of a GPU required before the first evaluation.", {.docs = 10}),
       field("recovery_samples", &Params::recovery_samples, 1, 1000000,
             "Consecutive samples without two such GPUs that end the alert.")});
  return spec;
}

}  // namespace trainwatch::load_balancing
