// SPDX-License-Identifier: Apache-2.0
// The figures of one block of a tensor's elements, and how those of two blocks are joined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "trainwatch/state_io.h"

namespace trainwatch {

// Of the finite elements, but for the first three counts. Means, not sums: they cannot overflow.
struct BlockFigures {
  std::uint64_t count = 0;
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;
  std::uint64_t zeros = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double abs_mean = 0;
  double squares = 0;  // of the differences from the mean, in all

  std::uint64_t finite() const { return count - nans - infinities; }
  // Chan, Golub, LeVeque (1979): joins means and squares without loss of digits. The result depends
  // on the order, so blocks are cut and joined by the numbers of their elements alone.
  void join(const BlockFigures& other);
};

// Of `count` elements, float or double, unaligned. The same on every machine: element i is summed
// in lane i % 8, with or without `vectors`.
//
// Differences from `origin` are summed, in one pass. With the mean of all blocks before, no digits
// are lost: where the mean of this one is far from it, join() adds more than the error. nullopt:
// the mean is found first, in a pass more.
template <class Number>
BlockFigures figures_of(const char* data, std::size_t count, std::optional<double> origin,
                        bool vectors = true);

}  // namespace trainwatch
