// SPDX-License-Identifier: Apache-2.0
// The parts into which the wall time of a run is cut. They do not overlap and leave nothing out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string_view>

#include "trainwatch/verdict.h"

namespace trainwatch {

// The causes have the names that alerts have; see docs/metrics.md.
enum class LifePart : std::uint8_t {
  training,    // new steps at the clean pace
  startup,     // from the begin of an attempt to its first step, and what warms up
  restore,     // reading a checkpoint
  redone,      // iterations whose step an earlier attempt had ended
  down,        // between two attempts
  checkpoint,  // while training waits for it, as for
  evaluation,
  input_wait,  // from here on: excess over the clean iteration
  communication,
  straggler,
  elsewhere,  // waiting for ranks that this daemon does not see
  host_pause,
  cpu_saturation,
  io_wait,
  gpu_slowdown,
  compute_growth,
  kernel_launch,
  memory_copy,
  synchronization,
  stalled,
  unattributed,
  count_,
};

inline constexpr std::size_t kLifeParts = static_cast<std::size_t>(LifePart::count_);

inline std::string_view to_string(LifePart part) {
  constexpr std::string_view kNames[] = {
      "training",       "startup",       "restore",        "redone",          "down",
      "checkpoint",     "evaluation",    "input_wait",     "communication",   "straggler",
      "elsewhere",      "host_pause",    "cpu_saturation", "io_wait",         "gpu_slowdown",
      "compute_growth", "kernel_launch", "memory_copy",    "synchronization", "stalled",
      "unattributed"};
  static_assert(std::size(kNames) == kLifeParts);
  return kNames[static_cast<std::size_t>(part)];
}

// Whether it is a loss with a cause, and not what a job does on purpose or what a restart costs.
constexpr bool is_trouble(LifePart part) {
  return part >= LifePart::input_wait;
}

// Whether it is lost: trouble, and what restarts cost.
constexpr bool is_lost(LifePart part) {
  return is_trouble(part) || part == LifePart::redone || part == LifePart::down;
}

// The part that has the loss of this cause.
constexpr LifePart part_of(CauseName cause) {
  switch (cause) {
    case CauseName::input_wait:
      return LifePart::input_wait;
    case CauseName::cpu_saturation:
      return LifePart::cpu_saturation;
    case CauseName::io_wait:
      return LifePart::io_wait;
    case CauseName::host_pause:
    case CauseName::garbage_collection:
    case CauseName::recompilation:
      return LifePart::host_pause;
    case CauseName::kernel_launch:
      return LifePart::kernel_launch;
    case CauseName::communication:
      return LifePart::communication;
    case CauseName::straggler:
      return LifePart::straggler;
    case CauseName::gpu_slowdown:
      return LifePart::gpu_slowdown;
    case CauseName::compute_growth:
      return LifePart::compute_growth;
    case CauseName::memory_copy:
      return LifePart::memory_copy;
    case CauseName::synchronization:
      return LifePart::synchronization;
    case CauseName::evaluation:
      return LifePart::evaluation;
    case CauseName::checkpoint:
      return LifePart::checkpoint;
    case CauseName::collective_hang:
      return LifePart::stalled;
    case CauseName::memory_creep:
    case CauseName::unattributed:
      break;
  }
  return LifePart::unattributed;
}

// Seconds by part.
struct PartSeconds {
  std::array<double, kLifeParts> seconds{};

  double& operator[](LifePart part) { return seconds[static_cast<std::size_t>(part)]; }
  double operator[](LifePart part) const { return seconds[static_cast<std::size_t>(part)]; }
  double total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }
  void add(const PartSeconds& other, double weight) {
    for (std::size_t i = 0; i < kLifeParts; ++i) seconds[i] += other.seconds[i] * weight;
  }
  void merge(const PartSeconds& other) { add(other, 1); }
  // Of trouble.
  double lost() const {
    double sum = 0;
    for (std::size_t i = static_cast<std::size_t>(LifePart::input_wait); i < kLifeParts; ++i)
      sum += seconds[i];
    return sum;
  }
};

}  // namespace trainwatch
