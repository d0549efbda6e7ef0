// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/system_history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace trainwatch {
namespace {

constexpr std::uint32_t kUnset = 0xFFFFFFFF;
constexpr std::uint32_t kNoRoom = 0xFFFFFFFE;
// Percent. What is larger is a mistake, and would not fit the sums.
constexpr double kLargest = 1e6;
// Bits of nvmlClocksEventReasons: power cap, hardware slowdown, thermal limits, power brake.
constexpr std::uint32_t kHeldBack = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

class Mean {
 public:
  void add(float sum, std::uint32_t count) {
    sum_ += static_cast<double>(sum);
    count_ += count;
  }
  std::optional<double> value() const {
    if (count_ == 0) return std::nullopt;
    return sum_ / static_cast<double>(count_);
  }

 private:
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

std::int64_t second_of(Time t) {
  return std::chrono::floor<std::chrono::seconds>(t).time_since_epoch().count();
}

}  // namespace

SystemHistory::Node* SystemHistory::node_of(SeriesId series) {
  const auto index = static_cast<std::size_t>(series);
  if (index >= node_of_series_.size()) node_of_series_.resize(index + 1, kUnset);
  std::uint32_t& node = node_of_series_[index];
  if (node == kUnset) {
    const Subject key = project(interner_.subjects[interner_.series[series].subject], Scope::node);
    node = index_of(key).value_or(kNoRoom);
  }
  return node == kNoRoom ? nullptr : &nodes_[node];
}

std::optional<std::uint32_t> SystemHistory::index_of(const Subject& key) {
  const auto named = by_name_.find(key.node);
  if (named != by_name_.end()) {
    for (const std::uint32_t index : named->second) {
      if (nodes_[index].key == key) return index;
    }
  }
  if ((nodes_.size() + 1) * kFewestRows > most_rows_) return std::nullopt;
  const std::size_t before = rows_each_;
  const std::uint32_t index = add(key);
  if (rows_each_ < before) {
    for (Node& node : nodes_) node.seconds.trim(rows_each_);
  }
  return index;
}

std::uint32_t SystemHistory::add(const Subject& key) {
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({key, {}});
  by_name_[key.node].push_back(index);
  rows_each_ = std::min(most_rows_ / nodes_.size(), UsageSeconds::kRows);
  return index;
}

std::size_t SystemHistory::limit_of(Resource resource) {
  switch (resource) {
    case Resource::cpu_pressure_some:
      return 0;
    case Resource::io_pressure_some:
      return 1;
    case Resource::memory_pressure_some:
      return 2;
    case Resource::cgroup_throttled:
      return 3;
    default:
      return kLimits;
  }
}

void SystemHistory::on(const Sample& sample) {
  const bool cpu = sample.resource == Resource::cpu_utilization;
  const bool io = sample.resource == Resource::cpu_io_wait;
  const bool gpu = sample.resource == Resource::gpu_utilization;
  const bool throttle = sample.resource == Resource::gpu_throttle_reasons;
  const bool plausible = std::fabs(sample.value) <= kLargest;  // false for NaN
  const std::size_t limit = limit_of(sample.resource);
  const bool wanted = cpu || io || gpu || (throttle && sample.value >= 0) || limit < kLimits;
  if (!wanted || !plausible) return;
  Node* const node = node_of(sample.series);
  if (node == nullptr) {
    ++dropped_;
    return;
  }
  UsageSecond* const found = node->seconds.at(second_of(sample.at), rows_each_);
  if (found == nullptr) return;
  UsageSecond& second = *found;
  const auto value = static_cast<float>(sample.value);
  constexpr std::uint16_t kMost = std::numeric_limits<std::uint16_t>::max();
  if ((cpu && second.cpu_count == kMost) || (gpu && second.gpu_count == kMost) ||
      (throttle && second.throttle_count == kMost)) {
    return;
  }
  if (cpu) {
    second.cpu_sum += value;
    second.cpu_max = std::max(second.cpu_max, value);
    ++second.cpu_count;
  } else if (io) {
    second.io_max = std::max(second.io_max, value);
  } else if (limit < kLimits) {
    second.limits[limit] = std::max(second.limits[limit], value);
  } else if (throttle) {
    ++second.throttle_count;
    if ((static_cast<std::uint32_t>(sample.value) & kHeldBack) != 0) ++second.throttled;
  } else {
    second.gpu_sum += value;
    ++second.gpu_count;
  }
}

const UsageSeconds* SystemHistory::find(SubjectId subject) const {
  const Subject& wanted = interner_.subjects[subject];
  const auto named = by_name_.find(wanted.node);
  if (named == by_name_.end()) return nullptr;
  const UsageSeconds* elsewhere = nullptr;  // the same machine, sampled into another directory
  for (const std::uint32_t index : named->second) {
    const Node& node = nodes_[index];
    if (node.key.job == wanted.job) return &node.seconds;
    if (!wanted.node.empty()) elsewhere = &node.seconds;
  }
  return elsewhere;
}

SystemUsage SystemHistory::usage(SubjectId subject, Time start, Time end) const {
  const UsageSeconds* const node = find(subject);
  if (node == nullptr) return {};
  Mean cpu, core, io, gpu, throttled;
  std::array<Mean, kLimits> limits;
  const std::int64_t last = std::min(second_of(end), node->newest());
  for (std::int64_t i = std::max(second_of(start), node->oldest()); i <= last; ++i) {
    const UsageSecond* const found = node->find(i);
    if (found == nullptr) continue;
    const UsageSecond& second = *found;
    gpu.add(second.gpu_sum, second.gpu_count);
    if (second.throttle_count > 0) throttled.add(second.throttled > 0 ? 100 : 0, 1);
    for (std::size_t limit = 0; limit < kLimits; ++limit) {
      if (second.limits[limit] >= 0) limits[limit].add(second.limits[limit], 1);
    }
    if (second.cpu_count == 0) continue;
    cpu.add(second.cpu_sum, second.cpu_count);
    core.add(second.cpu_max, 1);
    io.add(second.io_max, 1);
  }
  return {.cpu = cpu.value(),
          .busiest_core = core.value(),
          .io_wait = io.value(),
          .gpu = gpu.value(),
          .throttled = throttled.value(),
          .cpu_pressure = limits[0].value(),
          .io_pressure = limits[1].value(),
          .memory_pressure = limits[2].value(),
          .quota_used = limits[3].value()};
}

bool SystemHistory::passed(SubjectId subject, Time time) const {
  const UsageSeconds* const node = find(subject);
  return node != nullptr && node->newest() > second_of(time);
}

Nanos SystemHistory::longest_silence(SubjectId subject, Time from, Time to) const {
  const UsageSeconds* const node = find(subject);
  if (node == nullptr || node->newest() < 0) return std::max(to - from, Nanos{});
  const std::int64_t last = second_of(to);
  const std::int64_t first =
      std::max(second_of(from), last - static_cast<std::int64_t>(UsageSeconds::kSeconds) + 1);
  std::int64_t longest = 0;
  std::int64_t silent_since = first;
  for (std::int64_t i = std::max<std::int64_t>(first, 0); i <= last; ++i) {
    if (node->find(i) == nullptr) continue;
    longest = std::max(longest, i - silent_since);
    silent_since = i;
  }
  return std::chrono::seconds(std::max(longest, last - silent_since));
}

bool SystemHistory::is_at_work(SubjectId subject, Time from, Time to) const {
  constexpr double kOtherLoad = 3;  // percentage points, of all GPUs
  constexpr double kOften = 0.25;   // of the samples
  constexpr std::int64_t kFewestSamples = 10;
  constexpr double kWaits = 20;  // percent of the time
  const UsageSeconds* const node = find(subject);
  if (node == nullptr) return false;
  std::optional<double> before;
  std::int64_t samples = 0;
  std::int64_t changes = 0;
  const std::int64_t last = std::min(second_of(to), node->newest());
  for (std::int64_t i = std::max(second_of(from), node->oldest()); i <= last; ++i) {
    const UsageSecond* const second = node->find(i);
    if (second == nullptr || second->gpu_count == 0) continue;
    const double load = second->gpu_sum / second->gpu_count;
    ++samples;
    if (before && std::abs(load - *before) > kOtherLoad) ++changes;
    before = load;
  }
  const auto often = kOften * static_cast<double>(samples);
  if (samples >= kFewestSamples && static_cast<double>(changes) >= often) return true;
  const SystemUsage mean = usage(subject, from, to);
  return std::max(mean.io_wait.value_or(0), mean.io_pressure.value_or(0)) >= kWaits;
}

Nanos SystemHistory::sampling_interval(SubjectId subject, Time time) const {
  constexpr std::int64_t kFarthest = 300;
  const UsageSeconds* const node = find(subject);
  if (node == nullptr) return {};
  const std::int64_t last = std::min(second_of(time), node->newest());
  std::optional<std::int64_t> later;
  for (std::int64_t i = last; i >= std::max<std::int64_t>(last - kFarthest, 0); --i) {
    if (node->find(i) == nullptr) continue;
    if (later) return std::chrono::seconds(*later - i);
    later = i;
  }
  return {};
}

void SystemHistory::save(StateRows& rows, bool all) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    if (!all && !node.seconds.changed()) continue;
    const std::string name = "system/" + std::to_string(i);
    rows.put(name, [&](StateIo& io) { io(node.key); });
    const auto put = [&](std::size_t row) {
      rows.put(name + "/" + std::to_string(row),
               [&](StateIo& io) { node.seconds.row_state(io, row); });
    };
    node.seconds.take_changed([&](std::size_t row, bool removed) {
      if (removed) rows.remove(name + "/" + std::to_string(row));
      if (!removed && !all) put(row);
    });
    for (std::size_t row = 0; all && row < UsageSeconds::kRows; ++row) {
      if (node.seconds.has_row(row)) put(row);
    }
  }
}

bool SystemHistory::load(const SavedState& saved) {
  nodes_.clear();
  by_name_.clear();
  node_of_series_.clear();
  for (std::size_t i = 0;; ++i) {
    const std::string name = "system/" + std::to_string(i);
    if (!saved.rows.contains(name)) return true;
    Subject key;
    if (!load_row(saved, name, [&](StateIo& io) { io(key); })) return false;
    if (is_forgotten(key)) continue;
    UsageSeconds& seconds = nodes_[add(key)].seconds;
    for (std::size_t row = 0; row < UsageSeconds::kRows; ++row) {
      const std::string part = name + "/" + std::to_string(row);
      const auto load = [&](StateIo& io) { seconds.row_state(io, row); };
      if (saved.rows.contains(part) && !load_row(saved, part, load)) return false;
    }
  }
}

// Nodes are saved by name, not by id.
bool SystemHistory::is_forgotten(const Subject& node) const {
  return interner_.subjects.find(node) == SubjectId::none;
}

void SystemHistory::state(StateIo& io) {
  auto count = static_cast<std::uint32_t>(nodes_.size());
  io(count);
  if (io.is_loading()) {
    nodes_.clear();
    by_name_.clear();
    node_of_series_.clear();
  }
  for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
    Subject key = io.is_loading() ? Subject{} : nodes_[i].key;
    io(key);
    UsageSeconds unused;
    const bool forgotten = io.is_loading() && is_forgotten(key);
    if (io.is_loading() && !forgotten) add(key);
    UsageSeconds& seconds = forgotten         ? unused
                            : io.is_loading() ? nodes_.back().seconds
                                              : nodes_[i].seconds;
    for (std::size_t row = 0; row < UsageSeconds::kRows && io.ok(); ++row) {
      bool used = seconds.has_row(row);
      io(used);
      if (used) seconds.row_state(io, row);
    }
  }
}

}  // namespace trainwatch
