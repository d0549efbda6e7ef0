// SPDX-License-Identifier: Apache-2.0
// The graph of one step in which the critical path is the longest: what ran on the host and on the
// device, and what each of it had to wait for. After HTA 0.6.1's critical path analysis.
//
// A node is the start or the end of an event. Nodes are numbered in the order of time, and every
// edge leads from a lower to a higher number, so that this order is a topological one. An edge that
// would go back, because clocks of host and device disagree, is left out and counted.
#pragma once

#include <cstdint>
#include <vector>

#include "trainwatch/name_table.h"

namespace trainwatch {

// What the time on an edge is bound by.
enum class BoundBy : std::uint8_t {
  cpu,
  data_loading,
  gpu_compute,
  gpu_communication,
  gpu_memory,  // copies and fills; in HTA they are gpu_compute
  kernel_kernel_overhead,
  kernel_launch_overhead,
  count_,
};

struct PathEvent {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  // on the host later than the start
  NameId name{};
  std::uint32_t row = 0;   // of CycleTrace::host or device
  std::uint32_t lane = 0;  // on the host: its thread
  BoundBy bound{};         // while it runs
  bool on_device = false;
};

enum class EdgeKind : std::uint8_t {
  run,           // HTA's OPERATOR_KERNEL: an event runs, or what stands between two parts of it
  dependency,    // one after the other; without weight, as `sync`
  launch_delay,  // from a launch to the start of its activity
  kernel_delay,  // from the end of an activity to the start of the next on its stream
  sync,          // an activity that something waited for
};

using PathNode = std::uint32_t;

struct PathEdge {
  PathNode from = 0;
  PathNode to = 0;
  std::int64_t weight_ns = 0;
  std::uint32_t owner = 0;  // the event that it is put down to
  EdgeKind kind{};
};

class PathGraph {
 public:
  struct Endpoint {
    std::int64_t at_ns = 0;
    std::uint32_t event = 0;
    bool is_start = false;
  };

  // Nodes without edges. Of a thread, and of a stream, earlier events come first, and of those that
  // start together the outer one.
  explicit PathGraph(std::vector<PathEvent> events);

  const std::vector<PathEvent>& events() const { return events_; }
  const std::vector<Endpoint>& nodes() const { return nodes_; }
  const std::vector<PathEdge>& edges() const { return edges_; }
  std::uint64_t left_out() const { return left_out_; }  // edges

  PathNode start_of(std::uint32_t event) const { return starts_[event]; }
  PathNode end_of(std::uint32_t event) const { return ends_[event]; }

  // Weighs what passes between the nodes.
  void add(EdgeKind kind, PathNode from, PathNode to, std::uint32_t owner);
  void add_without_weight(EdgeKind kind, PathNode from, PathNode to, std::uint32_t owner);

 private:
  void add(const PathEdge& edge);

  std::vector<PathEvent> events_;
  std::vector<Endpoint> nodes_;  // by time
  std::vector<PathNode> starts_;
  std::vector<PathNode> ends_;
  std::vector<PathEdge> edges_;
  std::uint64_t left_out_ = 0;
};

}  // namespace trainwatch
