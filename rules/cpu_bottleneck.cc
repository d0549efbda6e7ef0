// GPUs idle while a CPU core is saturated; SageMaker's CPUBottleneck, see
// docs/rules/cpu_bottleneck.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "rules/text.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"

namespace trainwatch {
namespace {

constexpr Nanos kSnapshotWidth = std::chrono::milliseconds(20);
constexpr double kMaterialPoints = 5;  // percent points; a smaller change is not told
constexpr std::uint32_t kMaxCores = 4096;
constexpr std::size_t kCoresShown = 3;

struct Params {
  double threshold = 50;
  double gpu_threshold = 10;
  double cpu_threshold = 90;
  std::int64_t patience = 1000;
  std::int64_t recovery_snapshots = 20;
};

// Samples taken within 20 ms of the first one.
struct Snapshot {
  Time start{};
  Time last{};
  bool low_gpu = false;
  std::vector<std::uint32_t> hot_cores;

  bool empty() const { return start == Time{}; }
  void begin(Time at) {
    start = last = at;
    low_gpu = false;
    hot_cores.clear();  // keeps its memory
  }
  void state(StateIo& io) {
    io(start);
    io(last);
    io(low_gpu);
    io(hot_cores);
  }
};

class CpuBottleneck final : public Rule {
 public:
  CpuBottleneck(const Params& params, const RuleContext& context)
      : params_(params), vocabulary_(context.vocabulary) {}

  void on(const Event& event, Verdicts& out) override {
    const Sample* sample = std::get_if<Sample>(&event);
    if (sample == nullptr || std::isnan(sample->value)) return;
    if (snapshot_.empty()) {
      snapshot_.begin(sample->at);
    } else if (std::chrono::abs(sample->at - snapshot_.start) > kSnapshotWidth) {
      close(out);
      snapshot_.begin(sample->at);
    }
    snapshot_.last = std::max(snapshot_.last, sample->at);
    add(*sample);
  }

  void state(StateIo& io) override {
    io(snapshot_);
    io(datapoints_);
    io(low_gpu_);
    io(high_cpu_);
    io(bottlenecks_);
    io(by_core_);
    io(open_);
    io(told_ratio_);
    io(told_datapoints_);
    io(below_);
    const auto known = [](std::uint32_t core) { return core < kMaxCores; };
    if (by_core_.size() > kMaxCores || !std::ranges::all_of(snapshot_.hot_cores, known)) io.fail();
  }

  bool warming() const override { return !patient(); }

 private:
  void add(const Sample& sample) {
    if (sample.resource == Resource::gpu_utilization) {
      if (sample.value < params_.gpu_threshold) snapshot_.low_gpu = true;
    } else if (sample.value > params_.cpu_threshold && snapshot_.hot_cores.size() < kMaxCores) {
      snapshot_.hot_cores.push_back(
          std::min(vocabulary_.series[sample.series].device, kMaxCores - 1));
    }
  }

  void close(Verdicts& out) {
    ++datapoints_;
    if (snapshot_.low_gpu) ++low_gpu_;
    if (!snapshot_.hot_cores.empty()) ++high_cpu_;
    if (snapshot_.low_gpu && !snapshot_.hot_cores.empty()) {
      ++bottlenecks_;
      for (const std::uint32_t core : snapshot_.hot_cores) {
        if (core >= by_core_.size()) by_core_.resize(core + 1);
        ++by_core_[core];
      }
    }
    judge(out);
  }

  bool patient() const { return datapoints_ > static_cast<std::uint64_t>(params_.patience); }
  double ratio() const {
    return 100 * static_cast<double>(bottlenecks_) / static_cast<double>(datapoints_);
  }

  void judge(Verdicts& out) {
    if (patient() && ratio() > params_.threshold) {
      below_ = 0;
      const bool material = std::fabs(ratio() - told_ratio_) >= kMaterialPoints ||
                            datapoints_ >= 2 * told_datapoints_;
      if (open_ && !material) return;
      open_ = true;
      told_ratio_ = ratio();
      told_datapoints_ = datapoints_;
      out.push_back(firing());
    } else if (open_ && ++below_ >= params_.recovery_snapshots) {
      open_ = false;
      below_ = 0;
      Verdict& over = out.emplace_back();
      over.state = Verdict::State::ok;
      over.at = snapshot_.last;
    }
  }

  struct Core {
    std::uint32_t number = 0;
    std::uint64_t snapshots = 0;
  };
  std::vector<Core> busiest() const {
    std::vector<Core> cores;
    for (std::uint32_t core = 0; core < by_core_.size(); ++core) {
      if (by_core_[core] > 0) cores.push_back({core, by_core_[core]});
    }
    std::ranges::stable_sort(cores, std::ranges::greater{}, &Core::snapshots);
    if (cores.size() > kCoresShown) cores.resize(kCoresShown);
    return cores;
  }

  std::string evidence(const std::vector<Core>& cores) const {
    JsonWriter json;
    json.begin_object()
        .field("ratio_percent", ratio())
        .field("datapoints", datapoints_)
        .field("bottlenecks", bottlenecks_)
        .field("low_gpu_snapshots", low_gpu_)
        .field("high_cpu_snapshots", high_cpu_);
    json.key("busiest_cores").begin_array();
    for (const Core& core : cores) {
      json.begin_object().field("core", core.number).field("snapshots", core.snapshots);
      json.end_object();
    }
    return json.end_array().end_object().take();
  }

  Verdict firing() const {
    const std::vector<Core> cores = busiest();
    Verdict verdict;
    verdict.at = snapshot_.last;
    verdict.value = ratio();
    verdict.threshold = params_.threshold;
    verdict.unit = "percent";
    verdict.summary = "In " + text::percent(ratio()) + " of " + std::to_string(datapoints_) +
                      " samples a GPU was below " + text::percent(params_.gpu_threshold) +
                      " while a CPU core was above " + text::percent(params_.cpu_threshold) +
                      "; most often cpu" + std::to_string(cores.front().number) + ".";
    verdict.cause.name = CauseName::cpu_saturation;
    verdict.cause.coverage = static_cast<double>(bottlenecks_) / static_cast<double>(low_gpu_);
    verdict.cause.explanation = "In " + text::percent(100 * verdict.cause.coverage) +
                                " of the samples with an idle GPU a CPU core was saturated.";
    verdict.evidence = evidence(cores);
    verdict.next =
        "Move work off the saturated core: more data loading workers, cheaper or GPU-side "
        "preprocessing, fewer Python calls per step, or a machine with more cores per GPU.";
    return verdict;
  }

  Params params_;
  const Vocabulary& vocabulary_;
  Snapshot snapshot_;
  std::uint64_t datapoints_ = 0;  // snapshots closed so far
  std::uint64_t low_gpu_ = 0;
  std::uint64_t high_cpu_ = 0;
  std::uint64_t bottlenecks_ = 0;
  std::vector<std::uint64_t> by_core_;  // bottlenecks in which the core was saturated
  bool open_ = false;
  double told_ratio_ = 0;
  std::uint64_t told_datapoints_ = 0;
  std::int64_t below_ = 0;  // snapshots at or below the threshold, in a row
};

}  // namespace

const RuleSpec& cpu_bottleneck_rule() {
  static const RuleSpec spec = make_spec<CpuBottleneck, Params>(
      {.id = "cpu_bottleneck",
       .scope = Scope::node,
       .summary = "GPUs are idle while a CPU core is saturated.",
       .doc = "SageMaker's CPUBottleneck: samples of a node within 20 ms make a snapshot; a "
              "snapshot with a GPU below gpu_threshold and a core above cpu_threshold is a "
              "bottleneck. Fires when more than `patience` snapshots were seen and more than "
              "`threshold` percent of them were bottlenecks.",
       .interest = {.samples = {Resource::cpu_utilization, Resource::gpu_utilization}}},
      {field("threshold", &Params::threshold, 0, 100,
             "Percent of all snapshots that are bottlenecks."),
       field("gpu_threshold", &Params::gpu_threshold, 0, 100,
             "A GPU below this utilisation (percent) is idle."),
       field("cpu_threshold", &Params::cpu_threshold, 0, 100,
             "A core above this utilisation (percent) is saturated."),
       field("patience", &Params::patience, 0, 1000000,
             "Snapshots seen before the first judgement."),
       field("recovery_snapshots", &Params::recovery_snapshots, 1, 1000000,
             "Snapshots in a row at or below the threshold that end the alert.")});
  return spec;
}

}  // namespace trainwatch
