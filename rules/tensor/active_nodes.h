// SPDX-License-Identifier: Apache-2.0
// How many nodes of a layer are active: a node is a place beyond the first axis, which is that of
// the samples of a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trainwatch/tensor.h"

namespace trainwatch {

// The share, in percent, of the nodes that are active in less than `least` percent of the samples.
// `values`: all elements, at least one. A tensor of one axis is one sample.
template <class IsActive>
double inactive_percent(std::span<const double> values, std::span<const std::int64_t> shape,
                        double least, IsActive is_active) {
  const bool batched =
      shape.size() > 1 && shape[0] > 0 && values.size() % static_cast<std::size_t>(shape[0]) == 0;
  const std::size_t samples = batched ? static_cast<std::size_t>(shape[0]) : 1;
  const std::size_t nodes = values.size() / samples;
  std::size_t inactive = 0;
  for (std::size_t node = 0; node < nodes; ++node) {
    std::size_t active = 0;
    for (std::size_t i = node; i < values.size(); i += nodes)
      active += is_active(values[i]) ? 1 : 0;
    const double percent = 100 * static_cast<double>(active) / static_cast<double>(samples);
    inactive += percent < least ? 1 : 0;
  }
  return 100 * static_cast<double>(inactive) / static_cast<double>(nodes);
}

}  // namespace trainwatch
