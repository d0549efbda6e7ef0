// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/hta/step_events.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string_view>

namespace trainwatch {
namespace {

using namespace std::string_view_literals;

// HTA's, and the same calls of the driver and of ROCm.
constexpr std::array kBlocking = {"cudaDeviceSynchronize"sv,
                                  "cudaStreamSynchronize"sv,
                                  "cudaEventQuery"sv,
                                  "cudaEventSynchronize"sv,
                                  "cudaMemcpy"sv,
                                  "cudaMemcpyAsync"sv,
                                  "cuCtxSynchronize"sv,
                                  "cuStreamSynchronize"sv,
                                  "cuEventQuery"sv,
                                  "cuEventSynchronize"sv,
                                  "hipDeviceSynchronize"sv,
                                  "hipStreamSynchronize"sv,
                                  "hipEventQuery"sv,
                                  "hipEventSynchronize"sv,
                                  "hipMemcpy"sv,
                                  "hipMemcpyAsync"sv,
                                  "hipMemcpyWithStream"sv};
constexpr std::array kLocking = {"cudaHostAlloc"sv, "cudaLaunchKernel"sv, "cudaMemcpyAsync"sv};

bool is_any_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

BoundBy bound_of(const DeviceActivity& row) {
  if (row.activity_class == ActivityClass::communication) return BoundBy::gpu_communication;
  return row.activity_class == ActivityClass::memory ? BoundBy::gpu_memory : BoundBy::gpu_compute;
}

// The result of a search for a thread: one, none, or several, which counts as none.
class OnlyThread {
 public:
  void see(std::uint32_t thread) {
    several_ = several_ || (thread_ && *thread_ != thread);
    thread_ = thread;
  }
  std::optional<std::uint32_t> thread() const { return several_ ? std::nullopt : thread_; }

 private:
  std::optional<std::uint32_t> thread_;
  bool several_ = false;
};

// Backward runs in a thread of its own while the one with forward waits for it, which no event
// shows. As in HTA the two are taken for one where each is the only one of its kind.
class BackwardThread {
 public:
  void see(const HostEvent& row, const CallTraits& traits) {
    if (row.kind != HostKind::op && row.kind != HostKind::annotation) return;
    if (traits.has_autograd) autograd_.see(row.thread);
    if (traits.has_forward) forward_.see(row.thread);
  }
  void merge(std::vector<PathEvent>& events) const {
    const auto from = autograd_.thread();
    const auto into = forward_.thread();
    if (!from || !into) return;
    for (PathEvent& event : events) {
      if (event.lane == *from) event.lane = *into;
    }
  }

 private:
  OnlyThread autograd_;
  OnlyThread forward_;
};

}  // namespace

std::vector<CallTraits> call_traits(const NameTable& names) {
  std::vector<CallTraits> traits(names.size());
  for (std::size_t i = 0; i < traits.size(); ++i) {
    const std::string_view name = names.text(static_cast<NameId>(i));
    traits[i] = {is_any_of(name, kBlocking),
                 is_any_of(name, kLocking),
                 name.starts_with("enumerate(DataLoader)#"),
                 name.starts_with("ProfilerStep"),
                 name.find("autograd") != std::string_view::npos,
                 name.find("forward") != std::string_view::npos};
  }
  return traits;
}

std::optional<std::uint32_t> StepEvents::find(std::size_t begin, std::size_t end,
                                              std::uint32_t row) const {
  const auto first = events.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = events.begin() + static_cast<std::ptrdiff_t>(end);
  const auto found = std::ranges::lower_bound(first, last, row, {}, &PathEvent::row);
  if (found == last || found->row != row) return std::nullopt;
  return static_cast<std::uint32_t>(found - events.begin());
}

StepEventIndex::StepEventIndex(const SelectedCycle& selected)
    : cycle_(selected.cycle()),
      traits_(call_traits(cycle_.names)),
      host_of_launch_(cycle_.launches.size(), kNoRow) {
  for (std::uint32_t i = 0; i < cycle_.host.size(); ++i) {
    const HostEvent& row = cycle_.host[i];
    if (threads_.empty() || cycle_.host[threads_.back().first].thread != row.thread)
      threads_.emplace_back(i, i);
    threads_.back().second = i + 1;
    if (row.launch < host_of_launch_.size()) host_of_launch_[row.launch] = i;
  }
  for (const std::uint32_t index : selected.rows()) {
    const DeviceActivity& row = cycle_.device[index];
    if (row.launch == kNoLaunch || row.kind == DeviceKind::sync) continue;
    if (cycle_.launches[row.launch].duration_ns > 0) by_launch_.push_back(index);
  }
  std::ranges::sort(by_launch_, {}, [&](std::uint32_t index) {
    return std::pair(cycle_.launches[cycle_.device[index].launch].start_ns, index);
  });
}

// As in HTA, with both limits.
StepEventIndex::RowRange StepEventIndex::started_in(const RowRange& thread,
                                                    const StepRow& step) const {
  const auto begin = cycle_.host.begin() + thread.first;
  const auto end = cycle_.host.begin() + thread.second;
  const auto from = std::ranges::lower_bound(begin, end, step.start_ns, {}, &HostEvent::start_ns);
  const auto to = std::ranges::upper_bound(from, end, step.end_ns(), {}, &HostEvent::start_ns);
  return {static_cast<std::uint32_t>(from - cycle_.host.begin()),
          static_cast<std::uint32_t>(to - cycle_.host.begin())};
}

bool StepEventIndex::takes_part(const HostEvent& row) const {
  const CallTraits& of = traits(row.name);
  if (row.duration_ns <= 0 || of.is_step) return false;
  return row.kind == HostKind::op || row.kind == HostKind::call || of.loads_data;
}

// Of one thread. What runs inside a wait for data is part of it.
void StepEventIndex::add_host(const RowRange& rows, StepEvents& events) const {
  std::int64_t loading_until_ns = std::numeric_limits<std::int64_t>::min();
  for (std::uint32_t i = rows.first; i < rows.second; ++i) {
    const HostEvent& row = cycle_.host[i];
    if (!takes_part(row)) continue;
    if (traits(row.name).loads_data) loading_until_ns = std::max(loading_until_ns, row.end_ns());
    const bool loading = row.start_ns < loading_until_ns;
    events.events.push_back({row.start_ns, row.end_ns(), row.name, i, row.thread,
                             loading ? BoundBy::data_loading : BoundBy::cpu, false});
  }
}

void StepEventIndex::add_device(const StepRow& step, StepEvents& events) const {
  const auto launched = [&](std::uint32_t index) {
    return cycle_.launches[cycle_.device[index].launch].start_ns;
  };
  const auto from = std::ranges::lower_bound(by_launch_, step.start_ns, {}, launched);
  const auto to = std::ranges::upper_bound(by_launch_, step.end_ns(), {}, launched);
  std::vector<std::uint32_t> rows(from, to);
  std::ranges::sort(rows);
  for (const std::uint32_t index : rows) {
    const DeviceActivity& row = cycle_.device[index];
    events.events.push_back({row.start_ns, row.end_ns(), row.name, index, 0, bound_of(row), true});
  }
}

StepEvents StepEventIndex::of(const StepRow& step) const {
  StepEvents found;
  BackwardThread backward;
  for (const RowRange& thread : threads_) {
    const RowRange rows = started_in(thread, step);
    for (std::uint32_t i = rows.first; i < rows.second; ++i) {
      const HostEvent& row = cycle_.host[i];
      if (row.duration_ns > 0) backward.see(row, traits(row.name));
    }
    add_host(rows, found);
  }
  backward.merge(found.events);
  found.hosts = static_cast<std::uint32_t>(found.events.size());
  add_device(step, found);
  return found;
}

}  // namespace trainwatch
