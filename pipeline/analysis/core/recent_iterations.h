// SPDX-License-Identifier: Apache-2.0
// The latest iterations of an attempt, as logarithms of their times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trainwatch/state_io.h"

namespace trainwatch::pace {

class RecentIterations {
 public:
  static constexpr std::size_t kMost = 128;

  void add(double value) {
    ++added_;
    values_[static_cast<std::size_t>(added_) % kMost] = static_cast<float>(value);
  }
  void replace(std::size_t age, double value) {
    values_[(static_cast<std::size_t>(added_) - age) % kMost] = static_cast<float>(value);
  }
  // In all, not only those that are remembered.
  std::int64_t added() const { return added_; }
  // That of so many iterations ago, less than kMost and than added(); 0: the latest.
  double value(std::size_t age) const { return static_cast<double>(at(age)); }

  double median(std::size_t newest) const;
  double mean(std::size_t newest) const;
  // median(newest) <= most, without finding it: asked at every iteration while the level is worse.
  bool median_is_within(double most, std::size_t newest) const;
  // How many of the `newest` came since the level rose: the split into two levels that explains
  // them best, each value counted up to `most`. 0: it rose before them, or did not.
  std::int64_t since_rise(std::int64_t newest, double most) const;

  void state(StateIo& io);

 private:
  float at(std::size_t age) const {
    return values_[(static_cast<std::size_t>(added_) - age) % kMost];
  }

  std::array<float, kMost> values_{};  // a ring
  std::int64_t added_ = 0;
};

}  // namespace trainwatch::pace
