// SPDX-License-Identifier: Apache-2.0
// What is kept of a tensor to compare it with one of another run: figures of all of its elements,
// and a few of the elements themselves. 216 bytes for a tensor of any size.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "trainwatch/state_io.h"
#include "trainwatch/tensor.h"

namespace trainwatch {

struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

struct TensorDigest {
  static constexpr std::size_t kElements = 16;
  static constexpr double kMost = 1e9;  // of how_far(): also where nothing is within a tolerance

  TensorStatistics statistics;
  std::uint32_t kept = 0;
  std::array<double, kElements> elements{};  // at equal distances

  explicit TensorDigest(const Tensor& tensor);
  TensorDigest() = default;

  // How far this is from `other`, which has as many elements, in tolerances: 1 is at the edge of
  // what numpy.allclose(this, other) accepts, with NaN equal to NaN. Figures are given the most
  // that elements within the tolerance can move them, so a result above 1 is never wrong.
  double how_far(const TensorDigest& other, const Tolerance& tolerance) const;

  bool possible() const { return kept <= kElements; }
  void state(StateIo& io) {
    for (std::uint64_t* const number :
         {&statistics.count, &statistics.nans, &statistics.infinities, &statistics.zeros}) {
      io(*number);
    }
    for (double* const figure : {&statistics.min, &statistics.max, &statistics.mean,
                                 &statistics.variance, &statistics.abs_mean, &statistics.l2}) {
      io(*figure);
    }
    io(kept);
    io(elements);
    if (!possible()) io.fail();
  }
};

inline TensorDigest::TensorDigest(const Tensor& tensor)
    : statistics(tensor.statistics),
      kept(static_cast<std::uint32_t>(std::min(tensor.sample.size(), kElements))) {
  for (std::size_t i = 0; i < kept; ++i) {
    elements[i] = tensor.sample[i * tensor.sample.size() / kept];
  }
}

inline double TensorDigest::how_far(const TensorDigest& other, const Tolerance& tolerance) const {
  const TensorStatistics& here = statistics;
  const TensorStatistics& there = other.statistics;
  if (here.nans != there.nans || here.infinities != there.infinities) return kMost;
  double most = 0;
  const auto compare = [&](double a, double b, double room) {
    const bool same = a == b || (std::isnan(a) && std::isnan(b));
    if (same) return;
    const double far = std::fabs(a - b) / room;
    most = std::max(most, far <= kMost ? far : kMost);  // not finite: kMost
  };
  const auto room_at = [&](double size) { return tolerance.absolute + tolerance.relative * size; };
  for (std::size_t i = 0; i < std::min(kept, other.kept); ++i) {
    compare(elements[i], other.elements[i], room_at(std::fabs(other.elements[i])));
  }
  const double largest = std::max(std::fabs(there.min), std::fabs(there.max));
  const auto finite = static_cast<double>(there.finite());
  compare(here.mean, there.mean, room_at(there.abs_mean));
  compare(here.abs_mean, there.abs_mean, room_at(there.abs_mean));
  compare(here.min, there.min, room_at(largest));
  compare(here.max, there.max, room_at(largest));
  compare(here.l2, there.l2,
          tolerance.absolute * std::sqrt(finite) + tolerance.relative * there.l2);
  return most;
}

}  // namespace trainwatch
