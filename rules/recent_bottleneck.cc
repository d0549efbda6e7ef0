// SPDX-License-Identifier: Apache-2.0
#include "rules/recent_bottleneck.h"

#include <algorithm>
#include <cmath>

#include "rules/format.h"
#include "trainwatch/json_writer.h"

namespace trainwatch::cpu_bottleneck {
namespace {

constexpr std::uint32_t kMaxCores = 4096;
constexpr std::uint32_t kMaxGpus = 64;
constexpr std::uint32_t kMaxSnapshots = 1'000'000;  // of a slice
constexpr double kWorks = 5;                        // percent; an idle GPU shows up to a few
constexpr double kStaysOpen = 0.7;                  // of the threshold

}  // namespace

void RecentBottleneck::Slice::state(StateIo& io) {
  io(start);
  io(snapshots);
  io(low_gpu);
  io(hot_core);
  io(both);
  io(works);
  if (snapshots > kMaxSnapshots || std::max({low_gpu, hot_core, both}) > snapshots ||
      both > std::min(low_gpu, hot_core)) {
    io.fail();
  }
}

void RecentBottleneck::Snapshot::clear() {
  gpu = core = low_gpu = works = false;
  hot_cores.clear();  // keeps its memory
}

void RecentBottleneck::Snapshot::state(StateIo& io) {
  io(gpu);
  io(core);
  io(low_gpu);
  io(works);
  io(hot_cores);
  const auto known = [](std::uint32_t number) { return number < kMaxCores; };
  if (hot_cores.size() > kMaxCores || !std::ranges::all_of(hot_cores, known)) io.fail();
}

void RecentBottleneck::on_sample(const Sample& sample, Verdicts& out) {
  if (std::isnan(sample.value)) return;
  if (!tick_.holds(sample.at)) {
    if (!tick_.empty()) close(out);
    tick_.begin(sample.at);
    now_.clear();
  }
  tick_.add(sample.at);
  if (first_ == kNoTime) first_ = sample.at;
  if (sample.resource == Resource::gpu_utilization) {
    add_gpu(sample);
  } else {
    add_core(sample);
  }
}

void RecentBottleneck::state(StateIo& io) {
  io(tick_);
  io(now_);
  io(slices_);
  for (std::vector<std::uint32_t>& cores : by_core_) io(cores);
  io(stretch_);
  io(gpu_worked_);
  io(clear_);
  io(first_);
  io(last_gpu_);
  io(last_core_);
  const bool times = is_possible(stretch_) && is_possible(first_) && is_possible(last_gpu_) &&
                     is_possible(last_core_) && std::ranges::all_of(gpu_worked_, is_possible);
  if (!times || gpu_worked_.size() > kMaxGpus || by_core_[0].size() > kMaxCores ||
      by_core_[1].size() > kMaxCores) {
    io.fail();
  }
  sums_ = {};
  for (const Slice& slice : slices_.all()) count(slice, 1);
}

std::vector<std::string_view> RecentBottleneck::missing() const {
  std::vector<std::string_view> inputs;
  const Time latest = std::max(last_gpu_, last_core_);
  const auto gone = [&](Time last) {
    return latest - (last == kNoTime ? first_ : last) > TimeSlices<Slice>::kGap;
  };
  if (latest == kNoTime) return inputs;
  if (gone(last_gpu_)) inputs.emplace_back("gpu samples");
  if (gone(last_core_)) inputs.emplace_back("cpu samples");
  return inputs;
}

// A GPU that has not worked for a window is not starved: the job does not use it, or not yet, or no
// longer.
void RecentBottleneck::add_gpu(const Sample& sample) {
  last_gpu_ = std::max(last_gpu_, sample.at);
  now_.gpu = true;
  const std::uint32_t device = std::min(interner_.series[sample.series].device, kMaxGpus - 1);
  if (device >= gpu_worked_.size()) gpu_worked_.resize(device + 1, kNoTime);
  Time& worked = gpu_worked_[device];
  if (sample.value >= kWorks) {
    worked = sample.at;
    now_.works = true;
  }
  const bool used = worked != kNoTime && sample.at - worked <= slices_.width();
  if (used && sample.value < params_.gpu_threshold) now_.low_gpu = true;
}

void RecentBottleneck::add_core(const Sample& sample) {
  last_core_ = std::max(last_core_, sample.at);
  now_.core = true;
  if (sample.value > params_.core_threshold && now_.hot_cores.size() < kMaxCores) {
    now_.hot_cores.push_back(std::min(interner_.series[sample.series].device, kMaxCores - 1));
  }
}

void RecentBottleneck::close(Verdicts& out) {
  if (!now_.gpu || !now_.core) return;
  Slice& slice = slices_.at(tick_.last(), [this](const Slice& old) { count(old, -1); });
  if (slice.snapshots >= kMaxSnapshots) return;
  count(slice, -1);
  ++slice.snapshots;
  slice.works = slice.works || now_.works;
  if (now_.low_gpu) ++slice.low_gpu;
  if (!now_.hot_cores.empty()) ++slice.hot_core;
  if (now_.low_gpu && !now_.hot_cores.empty()) {
    ++slice.both;
    count_cores();
  }
  count(slice, 1);
  if (slices_.fresh()) judge(out);
}

void RecentBottleneck::count(const Slice& slice, std::int64_t by) {
  sums_.snapshots += by * slice.snapshots;
  sums_.low_gpu += by * slice.low_gpu;
  sums_.hot_core += by * slice.hot_core;
  sums_.both += by * slice.both;
}

void RecentBottleneck::count_cores() {
  if (stretch_ == kNoTime || tick_.last() - stretch_ > slices_.width()) {
    stretch_ = tick_.last();
    std::swap(by_core_[0], by_core_[1]);
    by_core_[0].clear();
  }
  for (const std::uint32_t core : now_.hot_cores) {
    if (core >= by_core_[0].size()) by_core_[0].resize(core + 1);
    ++by_core_[0][core];
  }
}

double RecentBottleneck::ratio() const {
  return 100 * static_cast<double>(sums_.both) / static_cast<double>(sums_.snapshots);
}

// Otherwise the job is starting, ending or standing still.
bool RecentBottleneck::works_throughout() const {
  const Nanos longest = slices_.longest_without([](const Slice& slice) { return slice.works; });
  return longest <= std::max(slices_.span() / 6, slices_.interval());
}

void RecentBottleneck::judge(Verdicts& out) {
  if (warming()) return;
  const Time at = tick_.last();
  const bool open = out.firings("") > 0;
  const double limit = params_.threshold * (open ? kStaysOpen : 1);
  if (ratio() > limit && works_throughout()) {
    clear_.reset();
    out.fires({.at = at, .figure = ratio()}, [this] { return describe(); });
  } else if (ratio() > limit && open) {
    clear_.reset();  // long steps leave a GPU without work for longer
    out.holds({});
  } else if (clear_.elapsed(at, from_seconds(params_.recovery_seconds))) {
    out.clear_all(at);
  }
}

std::uint32_t RecentBottleneck::busiest_core() const {
  std::uint32_t busiest = 0;
  std::uint64_t most = 0;
  for (std::uint32_t core = 0; core < std::max(by_core_[0].size(), by_core_[1].size()); ++core) {
    std::uint64_t snapshots = 0;
    for (const auto& cores : by_core_) snapshots += core < cores.size() ? cores[core] : 0;
    if (snapshots > most) {
      most = snapshots;
      busiest = core;
    }
  }
  return busiest;
}

Verdict RecentBottleneck::describe() const {
  const std::string span = format::seconds(to_seconds(slices_.span()));
  Verdict verdict;
  verdict.value = ratio();
  verdict.threshold = params_.threshold;
  verdict.unit = "percent";
  verdict.summary = "For " + format::percent(ratio()) + " of the last " + span +
                    " a GPU was below " + format::percent(params_.gpu_threshold) +
                    " while a CPU core was above " + format::percent(params_.core_threshold) +
                    "; most often cpu" + std::to_string(busiest_core()) + ".";
  verdict.cause.name = CauseName::cpu_saturation;
  verdict.cause.coverage = static_cast<double>(sums_.both) / static_cast<double>(sums_.low_gpu);
  verdict.cause.explanation = "In " + format::percent(100 * verdict.cause.coverage) +
                              " of the samples with an idle GPU, a CPU core was saturated.";
  verdict.evidence = JsonWriter{}
                         .begin_object()
                         .field("ratio_percent", ratio())
                         .field("window_seconds", to_seconds(slices_.span()))
                         .field("snapshots", sums_.snapshots)
                         .field("bottlenecks", sums_.both)
                         .field("low_gpu_snapshots", sums_.low_gpu)
                         .field("high_cpu_snapshots", sums_.hot_core)
                         .field("busiest_core", busiest_core())
                         .end_object()
                         .take();
  verdict.next =
      "Move work off the saturated core: more data loading workers, cheaper or GPU-side "
      "preprocessing, fewer Python calls per step, or a machine with more cores per GPU.";
  return verdict;
}

}  // namespace trainwatch::cpu_bottleneck
