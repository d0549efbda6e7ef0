// SPDX-License-Identifier: Apache-2.0
#include "rules/bottleneck.h"

#include <algorithm>
#include <cmath>

#include "rules/format.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

constexpr std::uint32_t kMaxCores = 4096;
constexpr std::size_t kCoresShown = 3;

}  // namespace

void Bottleneck::on_sample(const Sample& sample, Verdicts& out) {
  if (std::isnan(sample.value)) return;
  if (!tick_.holds(sample.at)) {
    if (!tick_.empty()) close(out);
    tick_.begin(sample.at);
    low_gpu_ = false;
    hot_cores_.clear();  // keeps its memory
  }
  tick_.add(sample.at);
  add(sample);
}

void Bottleneck::state(StateIo& io) {
  io(tick_);
  io(low_gpu_);
  io(hot_cores_);
  io(datapoints_);
  io(low_gpu_snapshots_);
  io(hot_core_snapshots_);
  io(bottlenecks_);
  io(by_core_);
  const auto known = [](std::uint32_t core) { return core < kMaxCores; };
  if (by_core_.size() > kMaxCores || !std::ranges::all_of(hot_cores_, known)) io.fail();
}

void Bottleneck::add(const Sample& sample) {
  if (sample.resource == Resource::gpu_utilization) {
    if (sample.value < params_.gpu_threshold) low_gpu_ = true;
  } else if (sample.value > params_.core_threshold && hot_cores_.size() < kMaxCores) {
    hot_cores_.push_back(std::min(interner_.series[sample.series].device, kMaxCores - 1));
  }
}

void Bottleneck::close(Verdicts& out) {
  ++datapoints_;
  if (low_gpu_) ++low_gpu_snapshots_;
  if (!hot_cores_.empty()) ++hot_core_snapshots_;
  if (low_gpu_ && !hot_cores_.empty()) {
    ++bottlenecks_;
    for (const std::uint32_t core : hot_cores_) {
      if (core >= by_core_.size()) by_core_.resize(core + 1);
      ++by_core_[core];
    }
  }
  judge(out);
}

void Bottleneck::judge(Verdicts& out) {
  if (patient() && ratio() > params_.threshold) {
    out.fires({.at = tick_.last(), .amount = datapoints_, .figure = ratio()},
              [this] { return describe(); });
  } else {
    out.clear_all(tick_.last());
  }
}

std::vector<Bottleneck::Core> Bottleneck::busiest() const {
  std::vector<Core> cores;
  for (std::uint32_t core = 0; core < by_core_.size(); ++core) {
    if (by_core_[core] > 0) cores.push_back({core, by_core_[core]});
  }
  std::ranges::stable_sort(cores, std::ranges::greater{}, &Core::snapshots);
  if (cores.size() > kCoresShown) cores.resize(kCoresShown);
  return cores;
}

std::string Bottleneck::evidence(const std::vector<Core>& cores) const {
  JsonWriter json;
  json.begin_object()
      .field("ratio_percent", ratio())
      .field("datapoints", datapoints_)
      .field("bottlenecks", bottlenecks_)
      .field("low_gpu_snapshots", low_gpu_snapshots_)
      .field(kind_.count_field, hot_core_snapshots_);
  json.key("busiest_cores").begin_array();
  for (const Core& core : cores) {
    json.begin_object().field("core", core.number).field("snapshots", core.snapshots);
    json.end_object();
  }
  return json.end_array().end_object().take();
}

Verdict Bottleneck::describe() const {
  const std::vector<Core> cores = busiest();
  Verdict verdict;
  verdict.value = ratio();
  verdict.threshold = params_.threshold;
  verdict.unit = "percent";
  verdict.summary = "In " + format::percent(ratio()) + " of " + std::to_string(datapoints_) +
                    " samples a GPU was below " + format::percent(params_.gpu_threshold) +
                    " while " + std::string(kind_.above) + " " +
                    format::percent(params_.core_threshold) + "; most often cpu" +
                    std::to_string(cores.front().number) + ".";
  verdict.cause.name = kind_.cause;
  verdict.cause.coverage =
      static_cast<double>(bottlenecks_) / static_cast<double>(low_gpu_snapshots_);
  verdict.cause.explanation = "In " + format::percent(100 * verdict.cause.coverage) +
                              " of the samples with an idle GPU, " + std::string(kind_.explained);
  verdict.evidence = evidence(cores);
  verdict.next = kind_.next;
  return verdict;
}

}  // namespace trainwatch
