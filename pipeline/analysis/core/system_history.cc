#include "pipeline/analysis/core/system_history.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace trainwatch {
namespace {

constexpr std::uint32_t kUnset = 0xFFFFFFFF;
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

SystemHistory::Node& SystemHistory::node_of(SeriesId series) {
  const auto index = static_cast<std::size_t>(series);
  if (index >= node_of_series_.size()) node_of_series_.resize(index + 1, kUnset);
  std::uint32_t& node = node_of_series_[index];
  if (node == kUnset) {
    const Subject key = project(interner_.subjects[interner_.series[series].subject], Scope::node);
    const auto known = std::find_if(nodes_.begin(), nodes_.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    node = static_cast<std::uint32_t>(known - nodes_.begin());
    if (known == nodes_.end()) nodes_.emplace_back(key, Node{});
  }
  return nodes_[node].second;
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
  Node& node = node_of(sample.series);
  if (node.ring.empty()) node.ring.resize(kSeconds);
  const std::int64_t index = second_of(sample.at);
  if (index < 0 || index + static_cast<std::int64_t>(kSeconds) <= node.newest) return;
  const std::size_t slot = static_cast<std::size_t>(index) % kSeconds;
  node.changed |= std::uint64_t{1} << (slot / kRowSeconds);
  Second& second = node.ring[slot];
  if (second.index != index) second = Second{.index = index};
  node.newest = std::max(node.newest, index);
  const auto value = static_cast<float>(sample.value);
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

const SystemHistory::Node* SystemHistory::find(SubjectId subject) const {
  const Subject& wanted = interner_.subjects[subject];
  const Node* elsewhere = nullptr;  // the same machine, sampled into another directory
  for (const auto& [key, node] : nodes_) {
    if (key.node != wanted.node) continue;
    if (key.job == wanted.job) return &node;
    if (!wanted.node.empty()) elsewhere = &node;
  }
  return elsewhere;
}

SystemUsage SystemHistory::usage(SubjectId subject, Time start, Time end) const {
  const Node* node = find(subject);
  if (node == nullptr || node->ring.empty()) return {};
  Mean cpu, core, io, gpu, throttled;
  std::array<Mean, kLimits> limits;
  const std::int64_t last = std::min(second_of(end), node->newest);
  const std::int64_t first =
      std::max(second_of(start), last - static_cast<std::int64_t>(kSeconds) + 1);
  for (std::int64_t i = std::max<std::int64_t>(first, 0); i <= last; ++i) {
    const Second& second = node->ring[static_cast<std::size_t>(i) % kSeconds];
    if (second.index != i) continue;
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
  const Node* node = find(subject);
  return node != nullptr && node->newest > second_of(time);
}

Nanos SystemHistory::longest_silence(SubjectId subject, Time from, Time to) const {
  const Node* node = find(subject);
  if (node == nullptr || node->ring.empty()) return std::max(to - from, Nanos{});
  const std::int64_t last = second_of(to);
  const std::int64_t first =
      std::max(second_of(from), last - static_cast<std::int64_t>(kSeconds) + 1);
  std::int64_t longest = 0;
  std::int64_t silent_since = first;
  for (std::int64_t i = std::max<std::int64_t>(first, 0); i <= last; ++i) {
    if (node->ring[static_cast<std::size_t>(i) % kSeconds].index != i) continue;
    longest = std::max(longest, i - silent_since);
    silent_since = i;
  }
  return std::chrono::seconds(std::max(longest, last - silent_since));
}

Nanos SystemHistory::sampling_interval(SubjectId subject, Time time) const {
  constexpr std::int64_t kFarthest = 300;
  const Node* node = find(subject);
  if (node == nullptr || node->ring.empty()) return {};
  const std::int64_t last = std::min(second_of(time), node->newest);
  std::optional<std::int64_t> later;
  for (std::int64_t i = last; i >= std::max<std::int64_t>(last - kFarthest, 0); --i) {
    if (node->ring[static_cast<std::size_t>(i) % kSeconds].index != i) continue;
    if (later) return std::chrono::seconds(*later - i);
    later = i;
  }
  return {};
}

void SystemHistory::save(StateRows& rows, bool all) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    auto& [key, node] = nodes_[i];
    if (!all && node.changed == 0) continue;
    const std::string name = "system/" + std::to_string(i);
    rows.put(name, [&key = key, &node = node](StateIo& io) {
      io(key);
      io(node.newest);
    });
    for (std::size_t row = 0; row < 64 && !node.ring.empty(); ++row) {
      const auto first = node.ring.begin() + static_cast<std::ptrdiff_t>(row * kRowSeconds);
      const bool used = std::any_of(first, first + kRowSeconds,
                                    [](const Second& second) { return second.index >= 0; });
      if (all ? !used : (node.changed >> row & 1U) == 0) continue;
      rows.put(name + "/" + std::to_string(row), [&node = node, row](StateIo& io) {
        for (std::size_t s = 0; s < kRowSeconds; ++s) io(node.ring[row * kRowSeconds + s]);
      });
    }
    node.changed = 0;
  }
}

bool SystemHistory::load(const StoredRows& rows) {
  nodes_.clear();
  node_of_series_.clear();
  for (bool more = true; more;) {
    const std::string name = "system/" + std::to_string(nodes_.size());
    more = rows.contains(name);
    if (!more) break;
    auto& [key, node] = nodes_.emplace_back(Subject{}, Node{});
    const bool known = load_row(rows, name, [&key = key, &node = node](StateIo& io) {
      io(key);
      io(node.newest);
    });
    if (!known) return false;
    node.ring.resize(kSeconds);
    for (std::size_t row = 0; row < 64; ++row) {
      const std::string part = name + "/" + std::to_string(row);
      const auto load = [&node = node, row](StateIo& io) {
        for (std::size_t s = 0; s < kRowSeconds; ++s) io(node.ring[row * kRowSeconds + s]);
      };
      if (rows.contains(part) && !load_row(rows, part, load)) return false;
    }
  }
  return true;
}

void SystemHistory::state(StateIo& io) {
  auto count = static_cast<std::uint32_t>(nodes_.size());
  io(count);
  if (io.is_loading()) {
    nodes_.clear();
    node_of_series_.clear();
  }
  for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
    auto& [key, node] = io.is_loading() ? nodes_.emplace_back(Subject{}, Node{}) : nodes_[i];
    std::vector<Second> used;
    std::copy_if(node.ring.begin(), node.ring.end(), std::back_inserter(used),
                 [](const Second& second) { return second.index >= 0; });
    io(key);
    io(node.newest);
    io(used);
    if (!io.is_loading()) continue;
    node.ring.resize(kSeconds);
    for (const Second& second : used) {
      if (second.index < 0) return io.fail();
      node.ring[static_cast<std::size_t>(second.index) % kSeconds] = second;
    }
  }
}

}  // namespace trainwatch
