// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/event_kind.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace trainwatch {
namespace {

bool mentions(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

struct PhaseRule {
  std::string_view phase;
  bool prefix;  // false: the whole phase
  SpanKind kind;
};

// Sub-module phases are left out: their time is inside Forward and Backward already.
constexpr PhaseRule kPhases[] = {
    {"DataLoaderWorker", false, SpanKind::data_worker},
    {"DataLoaderIterInitialize", false, SpanKind::data_init},
    {"Forward", false, SpanKind::forward},
    {"Backward", false, SpanKind::backward},
    {"Backward(post-forward)", false, SpanKind::backward},
    {"Optimizer", true, SpanKind::optimizer},
    {"Checkpoint", true, SpanKind::checkpoint},
    {"Evaluation", true, SpanKind::evaluation},
    {"GarbageCollection", false, SpanKind::garbage_collection},
    {"Compilation", false, SpanKind::compilation},
    {"NcclManager", false, SpanKind::communication},
    {"cpu_functions", true, SpanKind::cpu_op},
    {"gpu_functions", true, SpanKind::kernel},
};

constexpr std::string_view kTimelineStep = "Step:ModeKeys.";

Mode mode_of(std::string_view name) {
  if (name == "TRAIN") return Mode::train;
  if (name == "EVAL") return Mode::eval;
  if (name == "PREDICT") return Mode::predict;
  return name == "GLOBAL" ? Mode::global : Mode::unknown;
}

bool is_data_wait(std::string_view name) {
  return mentions(name, "DataLoaderIter::GetNext") || mentions(name, "dataset::GetNext") ||
         mentions(name, "IteratorGetNext") ||
         (mentions(name, "Iterator::") && mentions(name, "GetNext"));
}

struct ResourceRule {
  std::string_view type;
  std::string_view measure;  // the dimension of per-device series, else the name
  Resource resource;
};

constexpr ResourceRule kResources[] = {
    {"cpu", "CPUUtilization", Resource::cpu_utilization},
    {"cpu", "I/OWaitPercentage", Resource::cpu_io_wait},
    {"gpu", "GPUUtilization", Resource::gpu_utilization},
    {"gpu", "GPUMemoryUtilization", Resource::gpu_memory_utilization},
    {"memory", "MemoryUsedPercent", Resource::memory_used},
    {"i/o", "IOPS", Resource::io_operations},
    {"i/o", "ReadThroughputInBytesPerSecond", Resource::io_read},
    {"i/o", "WriteThroughputInBytesPerSecond", Resource::io_write},
    {"network", "ReceiveBytesPerSecond", Resource::network_receive},
    {"network", "TransmitBytesPerSecond", Resource::network_transmit},
    {"gpu", "GPUSmClock", Resource::gpu_sm_clock},
    {"gpu", "GPUMemoryClock", Resource::gpu_memory_clock},
    {"gpu", "GPUThrottleReasons", Resource::gpu_throttle_reasons},
    {"gpu", "GPUTemperature", Resource::gpu_temperature},
    {"gpu", "GPUPower", Resource::gpu_power},
    {"gpu", "GPUEccErrors", Resource::gpu_ecc_errors},
    {"gpu", "GPUXid", Resource::gpu_xid},
    {"pressure", "CPUPressureSome", Resource::cpu_pressure_some},
    {"pressure", "CPUPressureFull", Resource::cpu_pressure_full},
    {"pressure", "IOPressureSome", Resource::io_pressure_some},
    {"pressure", "IOPressureFull", Resource::io_pressure_full},
    {"pressure", "MemoryPressureSome", Resource::memory_pressure_some},
    {"pressure", "MemoryPressureFull", Resource::memory_pressure_full},
    {"cgroup", "CPUThrottledPercent", Resource::cgroup_throttled},
    {"cgroup", "MemoryUsedPercent", Resource::cgroup_memory_used},
    {"cgroup", "ReadThroughputInBytesPerSecond", Resource::cgroup_io_read},
    {"cgroup", "WriteThroughputInBytesPerSecond", Resource::cgroup_io_write},
};

}  // namespace

SpanClass classify_span(std::string_view phase, std::string_view name) {
  for (const std::string_view text : {name, phase}) {
    if (text.starts_with(kTimelineStep))
      return {SpanKind::step, mode_of(text.substr(kTimelineStep.size()))};
  }
  if (is_data_wait(name)) return {SpanKind::data_wait, Mode::unknown};
  for (const PhaseRule& rule : kPhases) {
    if (rule.prefix ? phase.starts_with(rule.phase) : phase == rule.phase) return {rule.kind, {}};
  }
  if (mentions(phase, "Horovod")) return {SpanKind::communication, Mode::unknown};
  return {};
}

SpanClass SpanClassifier::classify(const SymbolTable& symbols, Symbol phase, Symbol name,
                                   SpanKind fallback) {
  const std::uint64_t key =
      (static_cast<std::uint64_t>(phase) << 32U) | static_cast<std::uint64_t>(name);
  const std::uint64_t hash = key * 0x9E3779B97F4A7C15ULL;
  std::uint8_t& slot = slot_of_[hash >> 56U];
  SpanClass answer = slots_[slot].answer;
  if (slots_[slot].key != key || key == 0) {
    answer = classify_span(symbols.text(phase), symbols.text(name));
    if (slot == 0 && slots_.size() < slot_of_.size()) {
      slot = static_cast<std::uint8_t>(slots_.size());
      slots_.emplace_back();
    }
    if (slot != 0) slots_[slot] = {key, answer};
  }
  if (answer.kind == SpanKind::other) answer.kind = fallback;
  return answer;
}

Resource resource_of(std::string_view type, std::string_view name, std::string_view dimension) {
  for (const ResourceRule& rule : kResources) {
    if (type == rule.type && (dimension == rule.measure || name == rule.measure)) {
      return rule.resource;
    }
  }
  return Resource::other;
}

std::string_view device_of(Resource resource, std::string_view name, std::string_view dimension) {
  const auto* const rule = std::ranges::find(kResources, resource, &ResourceRule::resource);
  if (rule == std::end(kResources) || name != rule->measure) return name;
  if (rule->type != "network") return dimension;
  if (dimension == "Algorithm") return "external";
  return dimension == "Platform" ? "internal" : dimension;
}

std::string_view trailing_digits(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  return last == std::string_view::npos ? name : name.substr(last + 1);
}

std::uint32_t device_number(std::string_view name) {
  const std::string_view digits = trailing_digits(name);
  std::uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace trainwatch
