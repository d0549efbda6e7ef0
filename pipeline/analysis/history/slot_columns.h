// SPDX-License-Identifier: Apache-2.0
// A heat map: for each of a number of rows (ranks, or series of samples) a mean per interval. The
// rows are slots, in the order in which they appeared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainwatch/state_io.h"

namespace trainwatch {

// All rows of one interval.
struct SlotColumn {
  std::vector<float> sums;            // by slot; as long as the highest that was used
  std::vector<std::uint32_t> counts;  // the same

  void add(std::size_t slot, double value, std::uint32_t times = 1) {
    grow(slot + 1);
    sums[slot] += static_cast<float>(value * times);
    counts[slot] += times;
  }
  float sum(std::size_t slot) const { return slot < sums.size() ? sums[slot] : 0; }
  std::uint32_t count(std::size_t slot) const { return slot < counts.size() ? counts[slot] : 0; }

  void merge(const SlotColumn& other) {
    grow(other.sums.size());
    for (std::size_t slot = 0; slot < other.sums.size(); ++slot) {
      sums[slot] += other.sums[slot];
      counts[slot] += other.counts[slot];
    }
  }
  void state(StateIo& io) {
    io(sums);
    io(counts);
    if (sums.size() != counts.size()) io.fail();
  }

 private:
  void grow(std::size_t size) {
    if (size <= sums.size()) return;
    sums.resize(size);
    counts.resize(size);
  }
};

}  // namespace trainwatch
