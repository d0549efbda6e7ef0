// SPDX-License-Identifier: Apache-2.0
// What takes part in a step on its critical path: operators, runtime calls and waits for data that
// began in it, and the activities that its calls launched.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "pipeline/analysis/hta/critical_path_graph.h"
#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

struct CallTraits {
  bool blocks = false;      // it waits for the device
  bool locks = false;       // it takes the lock of CUDA's runtime
  bool loads_data = false;  // "enumerate(DataLoader)#…"
  bool is_step = false;
  bool has_autograd = false;  // in its name
  bool has_forward = false;
};

// By NameId.
std::vector<CallTraits> call_traits(const NameTable& names);

struct StepEvents {
  std::vector<PathEvent> events;  // of the host by row, then of the device by row
  std::uint32_t hosts = 0;        // how many are of the host

  // Where the row is among the events.
  std::optional<std::uint32_t> of_host(std::uint32_t row) const { return find(0, hosts, row); }
  std::optional<std::uint32_t> of_device(std::uint32_t row) const {
    return find(hosts, events.size(), row);
  }

 private:
  std::optional<std::uint32_t> find(std::size_t begin, std::size_t end, std::uint32_t row) const;
};

// Of a cycle, built once for all its steps: O(rows of the cycle log n).
class StepEventIndex {
 public:
  // The cycle must outlive the object.
  explicit StepEventIndex(const SelectedCycle& selected);

  const CycleTrace& cycle() const { return cycle_; }
  const CallTraits& traits(NameId name) const { return traits_[static_cast<std::size_t>(name)]; }
  // The row of CycleTrace::host of a call, kNoRow when it is not there.
  std::uint32_t host_of_launch(std::uint32_t launch) const {
    return launch < host_of_launch_.size() ? host_of_launch_[launch] : kNoRow;
  }
  // O(events of the step log n) and O(threads log n).
  StepEvents of(const StepRow& step) const;

 private:
  using RowRange = std::pair<std::uint32_t, std::uint32_t>;

  RowRange started_in(const RowRange& thread, const StepRow& step) const;
  void add_host(const RowRange& rows, StepEvents& events) const;
  void add_device(const StepRow& step, StepEvents& events) const;
  bool takes_part(const HostEvent& row) const;

  const CycleTrace& cycle_;
  std::vector<CallTraits> traits_;
  std::vector<RowRange> threads_;  // rows of CycleTrace::host
  std::vector<std::uint32_t> host_of_launch_;
  std::vector<std::uint32_t> by_launch_;  // rows of CycleTrace::device, by the start of the launch
};

}  // namespace trainwatch
